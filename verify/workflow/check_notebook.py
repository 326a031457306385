"""A Jupyter notebook, executed by a kernel of this Python."""

import json
import os
import re
import sys

import pytest
from tfsuite.checks import Wrong, check, require, same

CELLS = (
    "import json, os\nimport tensorflow as tf\nprint(os.getpid())",
    (
        "tf1 = getattr(getattr(tf, 'compat', None), 'v1', tf)\n"
        "tf1 = tf1 if hasattr(tf1, 'Session') else tf\n"
        "with tf1.Graph().as_default(), tf1.Session() as session:\n"
        "    value = session.run(tf1.matmul([[6.0]], [[7.0]]))\n"
        "print(json.dumps([tf.__version__, tf.__file__, float(value[0, 0])]))"
    ),
    "float(6 * value[0, 0])",
)
# The suite's packages stand behind the subject's in the kernel too.
START = (
    "import sys; sys.path.extend(p for p in {paths!r} if p not in sys.path); "
    "from ipykernel.kernelapp import launch_new_instance; launch_new_instance()"
)


def kernel(scratch, ipykernel):
    """The folder of a kernel specification that starts this Python."""
    folder = os.path.join(scratch, "kernels", "tfsuite")
    os.makedirs(folder)
    site = os.path.dirname(os.path.dirname(os.path.abspath(ipykernel.__file__)))
    command = [sys.executable, "-I", "-c", START.format(paths=[site])]
    spec = {"argv": command + ["-f", "{connection_file}"], "display_name": "", "language": "python"}
    with open(os.path.join(folder, "kernel.json"), "w") as stream:
        json.dump(spec, stream)
    return os.path.dirname(folder)


def execute(book, folder, scratch):
    """Run a notebook in a new kernel.

    Raises:
        Wrong: the kernel died or a cell ended in an exception, with its last line.
    """
    import nbclient
    from jupyter_client.kernelspec import KernelSpecManager
    from jupyter_client.manager import AsyncKernelManager
    from nbclient.exceptions import CellExecutionError, DeadKernelError

    specs = KernelSpecManager(kernel_dirs=[folder], ensure_native_kernel=False)
    manager = AsyncKernelManager(kernel_name="tfsuite", kernel_spec_manager=specs)
    client = nbclient.NotebookClient(book, km=manager, timeout=200, startup_timeout=100)
    try:
        client.execute(cwd=scratch)
    except CellExecutionError as error:
        plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
        lines = [line for line in plain.splitlines() if line.strip()]
        raise Wrong("a cell failed: %s" % lines[-1]) from error
    except (DeadKernelError, RuntimeError) as error:
        raise Wrong("the kernel died: %s" % error) from error


def printed(cell):
    return "".join(out.get("text", "") for out in cell.outputs if out.get("name") == "stdout")


@check(
    "workflow.notebook",
    proves="A notebook's kernel of this Python starts, imports this TensorFlow and multiplies.",
    catches=["kernel-cannot-import"],
    limit=280,
    profile="full",
)
def check_notebook(tf, scratch):
    try:
        import ipykernel
        import nbclient  # noqa: F401
        import nbformat
    except ImportError as error:
        pytest.skip("no Jupyter beside this release: %s" % error)
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell(source) for source in CELLS]
    execute(book, kernel(scratch, ipykernel), scratch)
    process = int(printed(book.cells[0]).strip())
    require(process != os.getpid(), "the cells ran in this process")
    said = json.loads(printed(book.cells[1]))
    same("the version, the file and 6 * 7", said, [tf.__version__, tf.__file__, 42.0])
    result = book.cells[2].outputs[0]
    same("the last cell's own output", result.get("data", {}).get("text/plain"), "252.0")
    return "three cells in a kernel of ipykernel %s" % ipykernel.__version__
