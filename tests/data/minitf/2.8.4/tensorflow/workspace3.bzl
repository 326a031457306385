"""Rule repositories, before anything else is loaded."""

def workspace():
    # What the definitions inside Bazel load; the tree has what is needed of them.
    native.local_repository(name = "rules_cc", path = "third_party/minitf/rules_cc")
    native.local_repository(name = "rules_java", path = "third_party/minitf/rules_java")

tf_workspace3 = workspace
