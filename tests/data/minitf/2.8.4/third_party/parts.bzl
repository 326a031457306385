"""Many small compilations."""

def parts(name, count):
    for number in range(count):
        native.genrule(
            name = "%s_source_%d" % (name, number),
            outs = ["%s_%d.cc" % (name, number)],
            cmd = "echo 'extern \"C\" int minitf_part_%d() { return %d; }' > $@" % (number, number),
        )
        native.cc_library(
            name = "%s_%d" % (name, number),
            srcs = ["%s_%d.cc" % (name, number)],
            alwayslink = 1,
        )
    native.cc_library(name = name, deps = ["%s_%d" % (name, number) for number in range(count)])
