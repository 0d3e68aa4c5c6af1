// Drives headless Chromium for page_test.py: a command per line on stdin, its answer as a line on stdout. Run in a
// folder with node_modules (tools/page.sh --tools).
import {createRequire} from 'node:module';
import {readFileSync} from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

const require = createRequire(path.join(process.cwd(), 'package.json'));
const {chromium} = require('playwright-core');
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

const browser = await chromium.launch({executablePath: process.argv[2], args: ['--no-sandbox', '--disable-dev-shm-usage']});
let page;
let requests = [];
let errors = [];

const commands = {
  async open({url, width, dark, behind}) {
    await page?.context().close();
    const context = await browser.newContext({viewport: {width, height: 900}, colorScheme: dark ? 'dark' : 'light'});
    if (behind) {
      await context.addInitScript((seconds) => {
        const now = Date.now;
        Date.now = () => now() - 1000 * seconds;
      }, behind);
    }
    page = await context.newPage();
    requests = [];
    errors = [];
    page.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(url, {waitUntil: 'load'});
  },
  async wait({script, seconds}) {
    // The page's policy forbids it to evaluate text, as waitForFunction would.
    const end = Date.now() + 1000 * seconds;
    while (!(await page.evaluate(script))) {
      if (Date.now() > end) throw new Error('waited in vain');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  },
  async ask({script}) {
    return page.evaluate(script);
  },
  async follow({selector}) {
    await Promise.all([page.waitForNavigation({waitUntil: 'load'}), page.click(selector)]);
  },
  async resize({width}) {
    await page.setViewportSize({width, height: 900});
  },
  async press({key}) {
    await page.keyboard.press(key);
  },
  async picture({path: file}) {
    await page.screenshot({path: file, fullPage: true});
  },
  async axe() {
    await page.evaluate(axe);
    const found = await page.evaluate('axe.run()');
    return found.violations.map(({id, impact, nodes}) => ({id, impact, nodes: nodes.map((node) => node.html.slice(0, 200))}));
  },
  async heard() {
    return {requests, errors};
  },
};

for await (const line of readline.createInterface({input: process.stdin})) {
  const {command, ...words} = JSON.parse(line);
  let answer;
  try {
    answer = {value: (await commands[command](words)) ?? null};
  } catch (error) {
    answer = {error: String(error.message ?? error)};
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
await browser.close();
