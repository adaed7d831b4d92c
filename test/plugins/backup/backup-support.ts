import { createHash, randomBytes } from 'node:crypto'
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import pg from 'pg'
import { type BackupJob, createBackup } from '../../../plugins/backup/write-backup.ts'
import { restoreBackup } from '../../../plugins/backup/restore/restore-backup.ts'
import { features } from '../../../plugins/index.ts'
import { buildTestApp } from '../../support.ts'
import { createClient } from '../assets/support.ts'
import { addRom } from '../roms/support.ts'
import type { Test } from 'tap'

export const PASSPHRASE = 'correct horse battery'
export const KEY = 'a key for tests only'
export const saves = new Map<number, Buffer>()

export const quiet = { signal: new AbortController().signal, report: () => undefined }
export const restore = (path: string, dataDir: string, more: Record<string, string> = {}) => restoreBackup({
  path,
  dataDir,
  environment: { SVC_DATA_DIR: dataDir, SVC_BACKUP_PASSPHRASE: PASSPHRASE, ...more },
  loadConfig: features.loadConfig,
  withoutSecrets: false,
  formerPrefix: 'before-restore',
  continuesWork: false,
  ...quiet
})

export async function query<Row extends object> (url: string, text: string): Promise<Row[]> {
  const connection = new pg.Client({ connectionString: url })
  await connection.connect()
  try {
    return (await connection.query<Row>(text)).rows
  } finally {
    await connection.end()
  }
}

/** Reads every row of tables that only people change. */
export async function readAll (url: string): Promise<unknown[]> {
  const tables = ['users', 'permission_groups', 'permission_grants', 'platforms', 'roms', 'rom_files', 'assets']
  return await Promise.all(tables.map((name) => query(url, `select to_jsonb(x) as row from ${name} x order by to_jsonb(x)::text`)))
}

/** True if the uploads contain a file with this content. */
export async function holds (dataDir: string, content: Buffer): Promise<boolean> {
  const hash = (bytes: Buffer) => createHash('sha1').update(bytes).digest('hex')
  for (const entry of await readdir(join(dataDir, 'assets'), { recursive: true, withFileTypes: true })) {
    if (entry.isFile() && hash(await readFile(join(entry.parentPath, entry.name))) === hash(content)) return true
  }
  return false
}

export async function startBackup (t: Test) {
  const test = await buildTestApp(t, { worker: true, env: { SVC_BACKUP_KEEP: '2', SVC_BACKUP_PASSPHRASE: PASSPHRASE } })
  const { app, config } = test
  const places = join(config.data_dir, '..', 'places')
  await mkdir(places)
  const client = createClient(test, await test.createUser('alice'))
  const rom = await addRom(test, { fs_name: 'Game.sfc' })
  for (const name of ['a.srm', 'b.srm', 'c.srm']) {
    const content = randomBytes(90_000)
    saves.set((await client.save({ rom_id: rom }, name, content)).id, content)
  }
  const plugin = join(config.data_dir, 'plugins', 'node_modules', 'svc-exporter-note')
  await mkdir(join(plugin, 'incoming'), { recursive: true })
  await writeFile(join(plugin, 'incoming', 'index.js'), 'export default 1')
  await writeFile(join(config.data_dir, 'config.yml'), '# mine\nscan:\n  priority:\n    region: [eu]\n')
  const back = (path: string, more: Partial<BackupJob> = {}) =>
    createBackup({ config, databaseUrl: test.databaseUrl, path, namesIncomplete: false, isIncremental: false, holds: 'everything', passphrase: null, ...quiet, ...more })

  const archive = join(places, 'one.tar.gz')
  return { test, app, config, places, back, archive }
}
