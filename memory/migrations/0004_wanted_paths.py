"""Tasks that ended before there were paths get theirs built, by the worker, from their rows."""

from django.db import migrations, models

WANT = """
INSERT INTO memory_pathbuild (task_id, wanted_revision, built_revision, error)
SELECT id, revision, 0, '' FROM memory_task WHERE final AND analysed_at IS NOT NULL
ON CONFLICT (task_id) DO NOTHING
"""


class Migration(migrations.Migration):

    dependencies = [("memory", "0003_pgvector")]

    operations = [
        migrations.AddIndex(
            model_name="pathbuild",
            index=models.Index(
                fields=["task"], condition=models.Q(("error", ""), _negated=True), name="path_build_error"
            ),
        ),
        migrations.RunSQL(WANT, migrations.RunSQL.noop),
    ]
