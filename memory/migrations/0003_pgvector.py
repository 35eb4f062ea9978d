"""Vectors of the path index on PostgreSQL. Nothing happens on SQLite, and Django's state does not change.

Written by hand. It needs pgvector 0.8 on the server and the right to make the extension, or a database in
which an administrator has made it.
"""

from django.core.exceptions import ImproperlyConfigured
from django.db import Error, migrations, transaction

OLDEST_USABLE = (0, 8)

TABLE = """
CREATE TABLE memory_pathvector (
    path_id bigint PRIMARY KEY,
    workspace_id bigint NOT NULL,
    embedder varchar(80) NOT NULL,
    goal halfvec,
    actions halfvec,
    status varchar(10) NOT NULL,
    result varchar(8) NOT NULL,
    level varchar(8) NOT NULL,
    agent varchar(200) NOT NULL,
    tools text[] NOT NULL,
    tags text[] NOT NULL,
    walked_at timestamptz NOT NULL
) WITH (toast_tuple_target = 8160);
CREATE INDEX pathvector_of_workspace ON memory_pathvector (workspace_id, embedder);
CREATE INDEX pathvector_of_agent ON memory_pathvector (workspace_id, agent);
CREATE INDEX pathvector_of_result ON memory_pathvector (workspace_id, result);
CREATE INDEX pathvector_of_time ON memory_pathvector (workspace_id, walked_at);
CREATE INDEX pathvector_of_tags ON memory_pathvector USING gin (tags);
CREATE INDEX pathvector_of_tools ON memory_pathvector USING gin (tools);
"""

# Not a foreign key: Django could no longer TRUNCATE the table that it points to.
FOLLOW = """
CREATE FUNCTION memory_drop_vector() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN DELETE FROM memory_pathvector WHERE path_id = OLD.path_id; RETURN NULL; END $$;
CREATE FUNCTION memory_drop_vectors() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN TRUNCATE memory_pathvector; RETURN NULL; END $$;
CREATE TRIGGER memory_drop_vector AFTER DELETE ON memory_pathentry
FOR EACH ROW EXECUTE FUNCTION memory_drop_vector();
CREATE TRIGGER memory_drop_vectors AFTER TRUNCATE ON memory_pathentry
FOR EACH STATEMENT EXECUTE FUNCTION memory_drop_vectors();
"""

# Of the embedder that needs no setting up. Other embedders get theirs by `manage.py reindex`.
SEARCH = """
CREATE INDEX {name}_{kind} ON memory_pathvector USING hnsw (({kind}::halfvec(256)) halfvec_ip_ops)
WITH (m = 16, ef_construction = 64) WHERE embedder = 'builtin-256/1'
"""
NAME = "pathvector_builtin_256_1_d7fb7609"


def make_table(apps, schema_editor):
    connection = schema_editor.connection
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        make_extension(cursor)
        cursor.execute(TABLE)
        cursor.execute(FOLLOW)
        for kind in ("goal", "actions"):
            cursor.execute(SEARCH.format(name=NAME, kind=kind))


def make_extension(cursor):
    cursor.execute("SELECT default_version FROM pg_available_extensions WHERE name = 'vector'")
    if cursor.fetchone() is None:
        raise ImproperlyConfigured(
            "This PostgreSQL server has no pgvector. Install the package of pgvector 0.8 or newer for its "
            "version on the database server, then migrate again."
        )
    try:
        with transaction.atomic():
            cursor.execute("CREATE EXTENSION IF NOT EXISTS vector")
    except Error as error:
        raise ImproperlyConfigured(
            "This database user may not make the extension pgvector. Let an administrator run "
            f"CREATE EXTENSION vector; in this database, then migrate again. ({str(error).strip()})"
        ) from error
    cursor.execute("SELECT extversion FROM pg_extension WHERE extname = 'vector'")
    found = cursor.fetchone()[0]
    if tuple(int(part) for part in found.split(".")[:2]) < OLDEST_USABLE:
        raise ImproperlyConfigured(
            f"This database has pgvector {found}; 0.8 or newer is needed. Let an administrator run "
            "ALTER EXTENSION vector UPDATE; in it, then migrate again."
        )


def drop_table(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        schema_editor.execute("DROP TRIGGER memory_drop_vector ON memory_pathentry")
        schema_editor.execute("DROP TRIGGER memory_drop_vectors ON memory_pathentry")
        schema_editor.execute("DROP FUNCTION memory_drop_vector, memory_drop_vectors")
        schema_editor.execute("DROP TABLE memory_pathvector")


class Migration(migrations.Migration):
    dependencies = [("memory", "0002_paths")]
    operations = [migrations.RunPython(make_table, drop_table)]
