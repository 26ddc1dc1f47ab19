# Homebrew's formula, for Formula/ of a tap. `version` stands in the URL; sha256 is that of the file on PyPI.
class Smartsearch < Formula
  desc "Find the few turns in raw chat transcripts that answer a question"
  homepage "https://github.com/smartsearch-cli/smartsearch"
  url "https://files.pythonhosted.org/packages/source/s/smartsearch-cli/smartsearch_cli-0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license "MIT"

  depends_on "python@3.13"

  # Wheels have no room for the longer library names that Homebrew would write into them.
  preserve_rpath

  # From wheels: onnxruntime has no sdist, and others need Rust.
  def install
    system "python3.13", "-m", "venv", libexec
    system libexec/"bin/pip", "install", "#{buildpath}[mcp]"
    bin.install_symlink libexec/"bin/smartsearch"
    man1.install "docs/smartsearch.1"
  end

  test do
    (testpath/"chat.txt").write "Ann: Where is the key?\nBen: It is below the blue pot.\n"
    assert_match "blue pot", shell_output("#{bin}/smartsearch query 'Where is the key?' chat.txt")
  end
end
