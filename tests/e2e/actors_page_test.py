"""The programs of docs/actors.md are built from the installed package and print what the page says."""
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

from support.cluster import Head
from support.harness import Running, Scenario, main
from support.package import BUILD, SOURCE, cached, cmake, configure

PREFIX = pathlib.Path(tempfile.mkdtemp(prefix="forebay-e2e-"))
PAGE = (SOURCE / "docs/actors.md").read_text()
WRONG = """
#include <forebay/actor.h>
using namespace forebay::actors;
struct Unlisted { static constexpr std::string_view kTag = "unlisted"; };
struct Untagged { static auto fields(auto&) { return std::tie(); } };
struct Pointing {
  static constexpr std::string_view kTag = "pointing";
  void* at = nullptr;
  static auto fields(auto& self) { return std::tie(self.at); }
};
struct Sound {
  static constexpr std::string_view kTag = "sound";
  using Reply = int;
  static auto fields(auto&) { return std::tie(); }
};
struct Deaf : Actor<Deaf, Sound> {};
struct Forgetful : Actor<Forgetful, Sound> {
  int on(const Sound&, Context& context) { return keep(context).ready() ? 1 : 0; }
};
struct Vague : Actor<Vague, Sound> { std::string on(const Sound&) { return ""; } };
int main() {
  static_assert(check_message<Unlisted>() && check_message<Untagged>() && check_message<Pointing>());
  Deaf deaf;
  Vague vague;
  Forgetful forgetful;
  return Ref<Pointing>().tell(Sound()) ? 0 : 1;
}
"""


def setUpModule():
    unittest.addModuleCleanup(shutil.rmtree, PREFIX, ignore_errors=True)
    cmake("--install", BUILD, "--prefix", PREFIX, "--component", "actors")


def blocks(kind):
    """Returns the page's code blocks of this kind, in order."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


class ActorsInTenMinutes(Scenario):
    def test_each_program_of_the_page_prints_what_the_page_says(self):
        (self.folder / "CMakeLists.txt").write_text(*blocks("cmake"))
        files = {re.match(r"// (\w+\.\w+)\n", code)[1]: code for code in blocks("cpp")}
        programs = [name[:-4] for name in files if "main(" in files[name]]
        said = blocks("text")
        self.assertEqual((len(files), len(programs), len(said)), (7, 5, 5))
        for name, code in files.items():
            (self.folder / name).write_text(code)
        configure(self.folder, PREFIX)
        cmake("--build", self.folder / "build")
        head = Head(self, self.folder)
        node = Running(["worker", "--join", head.address, "--name", "n1", "--actors", "build/libtally_types.so"], self.folder)
        self.addCleanup(lambda: (node.signal(signal.SIGKILL), node.wait()))
        for name, expected in zip(programs, said):
            done = subprocess.run([self.folder / "build" / name, head.address], capture_output=True, text=True, timeout=60,
                                  check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, expected, ""), name)

    def test_what_a_message_or_an_actor_lacks_is_said_by_the_compiler_in_a_sentence(self):
        (self.folder / "wrong.cpp").write_text(WRONG)
        done = subprocess.run([cached("CMAKE_CXX_COMPILER"), "-std=c++20", "-fsyntax-only", "-I", PREFIX / "include",
                               self.folder / "wrong.cpp"], capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        for sentence in ("A message must list its fields", "A message needs a tag",
                         "A field of this message cannot be written", "has no handler for it",
                         "A handler must return the message's Reply", "does not accept this message",
                         "An actor that keeps its state needs"):
            self.assertIn(sentence, done.stderr)


if __name__ == "__main__":
    main()
