// Packs the page into one file: its script and uPlot's in one module, both styles, and the hash by which the page's
// policy knows its script. Usage: node pack.mjs OUT, in a folder with node_modules.
import {createHash} from 'node:crypto';
import {createRequire} from 'node:module';
import {readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const esbuild = require('esbuild');
const source = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), 'src');
const read = (name) => readFileSync(path.join(source, name), 'utf8');

const built = await esbuild.build({
  entryPoints: [path.join(source, 'main.js')], bundle: true, minify: true, format: 'esm', target: 'es2022', write: false,
  charset: 'utf8', legalComments: 'none', nodePaths: [path.join(process.cwd(), 'node_modules')],
});
// No text of the script may end its element.
const script = built.outputFiles[0].text.trim().replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const styles = readFileSync(require.resolve('uplot/dist/uPlot.min.css'), 'utf8') + read('style.css');
const style = (await esbuild.transform(styles, {loader: 'css', minify: true})).code.trim();
const licence = `<!-- Contains uPlot ${require('uplot/package.json').version}, (c) Leon Sorokin, MIT licence; see NOTICE. -->\n`;
const hash = 'sha256-' + createHash('sha256').update(script).digest('base64');
const page = read('index.html').replace('<html', () => licence + '<html').replace('@hash@', () => hash)
  .replace('@style@', () => style).replace('@script@', () => script);
writeFileSync(process.argv[2], page);
console.log(`${process.argv[2]}: ${Buffer.byteLength(page)} bytes`);
