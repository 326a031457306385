"""tf_http_archive: an archive from a mirror or its origin, by hash, with the tree's own BUILD file."""

def _tf_http_archive(ctx):
    if len(ctx.attr.urls) < 2:
        fail("tf_http_archive(urls) must have redundant URLs.")
    ctx.download_and_extract(
        url = ctx.attr.urls,
        sha256 = ctx.attr.sha256,
        type = ctx.attr.type,
        stripPrefix = ctx.attr.strip_prefix,
    )
    if ctx.attr.patch_file:
        ctx.patch(ctx.path(ctx.attr.patch_file), 1)
    if ctx.attr.build_file:
        ctx.delete("BUILD.bazel")
        ctx.symlink(ctx.path(ctx.attr.build_file), "BUILD.bazel")

_rule = repository_rule(
    implementation = _tf_http_archive,
    attrs = {
        "build_file": attr.label(),
        "patch_file": attr.label(),
        "sha256": attr.string(mandatory = True),
        "strip_prefix": attr.string(),
        "type": attr.string(),
        "urls": attr.string_list(mandatory = True),
    },
)

def tf_http_archive(name, sha256, urls, **kwargs):
    _rule(name = name, sha256 = sha256, urls = urls, **kwargs)
