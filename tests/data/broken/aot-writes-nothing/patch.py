"""The compiler behind saved_model_cli aot_compile_cpu writes files without code."""


def apply(tf):
    from tensorflow.python import _pywrap_tfcompile

    # An object of ELF64 for x86-64 with no section at all.
    empty = b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x01\x00\x3e\x00\x01\x00\x00\x00" + bytes(40)

    def nothing(out_header, out_function_object, **rest):
        with open(out_header, "w") as stream:
            stream.write("// result_fetch_y_data\n")
        with open(out_function_object, "wb") as stream:
            stream.write(empty)

    _pywrap_tfcompile.Compile = nothing
