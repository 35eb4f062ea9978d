"""Tasks that ended before there were insights are counted by the worker, from their rows."""

from django.db import migrations

WANT = """
INSERT INTO memory_taskinsight (task_id, workspace_id, wanted_revision, counted_revision, contribution, error)
SELECT id, workspace_id, revision, 0, %s, '' FROM memory_task WHERE final AND analysed_at IS NOT NULL
ON CONFLICT (task_id) DO NOTHING
"""


class Migration(migrations.Migration):

    dependencies = [("memory", "0006_insights")]

    operations = [migrations.RunSQL([(WANT, [b""])], migrations.RunSQL.noop)]
