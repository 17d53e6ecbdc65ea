"""LanceDB as a place for indexes: a folder, object storage or its cloud. Nothing else imports LanceDB."""
