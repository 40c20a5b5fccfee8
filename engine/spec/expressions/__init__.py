"""The expression language of documents: parser, typed tree, functions, compiler."""
