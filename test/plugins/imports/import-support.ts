import type { ImportReport } from '../../../plugins/imports/schemas.ts'
import { createReport } from '../../../plugins/imports/report.ts'
import { runImport } from '../../../plugins/imports/run-import.ts'
import type { Importer } from '../../../plugins/imports/contract.ts'
import { until } from '../../until.ts'
import { type TestApp } from '../../support.ts'

export const logged: string[] = []

export const LIBRARY = {
  roms: {
    snes: { 'Chrono (USA).sfc': 'a cartridge', 'Game 1.sfc': 'one', 'Game 2.sfc': 'two' },
    psx: { 'Discs of Time': { 'disc 1.chd': 'a disc', soundtrack: { '01 Intro.mp3': 'music' } } }
  }
}
export const ENDED = ['finished', 'failed', 'stopped']

/** Starts a task and waits for its end. */
export async function finish ({ app }: TestApp, task: { id: string }): Promise<void> {
  await until(async () => ENDED.includes((await app.tasks.get(app.db, task.id)).status), 'the task ends')
}

export async function scan (test: TestApp): Promise<void> {
  await finish(test, await test.app.scans.request({ type: 'quick', platforms: [], platform_fs_slugs: [], roms_ids: [], apis: [] }, null))
}

/** Imports records from memory. */
export async function importRecords (
  { app, config }: TestApp, importer: Importer, { signal = new AbortController().signal, isDryRun = false } = {}
): Promise<ImportReport> {
  const report = createReport({ importer: 'memory', source: importer.title, dry_run: isDryRun })
  await runImport({ importer, report, signal, app, config, userId: null, isDryRun, taskId: 'memory', onProgress: () => Promise.resolve() })
  checkCounts(report.report)
  return report.report
}

/** @throws Error unless each record that was read is counted once */
export function checkCounts ({ counts }: ImportReport): void {
  for (const [kind, { listed, new: added, present, version, skipped }] of Object.entries(counts)) {
    if (listed === added + present + version + skipped) continue
    throw new Error(`${kind}: ${listed} read, and ${added} new, ${present} present, ${version} versions and ${skipped} skipped`)
  }
}

/** Tables that describe running work, not what was imported. */
export const MOVING = ['tasks', 'import_runs', 'workers', 'library_versions', 'library_counts', 'rom_changes', 'audit_events', 'sign_in_attempts', 'notifications',
  'log_lines', 'migrations', 'plugin_snapshots', 'stats_snapshots']

/** Soundtracks without tags, which the worker reads in the background after a scan. */
const UNTAGGED = "select from rom_files where category = 'soundtrack' and tags_of is distinct from last_modified"

/** Returns the content of all tables, once the worker has read the tags of music. */
export async function readTables ({ app }: TestApp): Promise<Record<string, unknown>> {
  await until(async () => (await app.pg.query(UNTAGGED)).rowCount === 0, 'the tags of music')
  const { rows } = await app.pg.query<{ name: string }>(`select tablename::text as name from pg_tables
    where schemaname = 'public' and tablename <> all($1) order by 1`, [MOVING])
  const tables: Record<string, unknown> = {}
  for (const { name } of rows) {
    const content = await app.pg.query<{ row: unknown }>(`select to_jsonb(x) as row from ${name} x order by to_jsonb(x)::text`)
    if (content.rows.length > 0) tables[name] = content.rows.map(({ row }) => row)
  }
  return tables
}
