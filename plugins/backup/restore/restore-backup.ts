import { lstat, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../../core/config/config.ts'
import type { Environment } from '../../../core/config/environment.ts'
import { EXIT_CODES, StartError } from '../../../core/errors.ts'
import type { Features } from '../../../core/feature.ts'
import { isPresent } from '../../../core/files/safe-path.ts'
import { createFsStore } from '../../../core/store/fs-store.ts'
import { createStore } from '../../../core/store/create-store.ts'
import { type Store, STORE_FOLDERS } from '../../../core/store/store.ts'
import { lockDataDir } from '../../../core/supervisor/lock.ts'
import type { ArchiveEnd, Manifest } from '../archive/manifest.ts'
import { readArchive } from '../archive/read-archive.ts'
import { FOLDERS } from '../files.ts'
import { migrateRestored, createLoader, requireKnownTables } from '../load-tables.ts'
import { stampOf } from '../backup-folder.ts'
import type { Progress } from '../progress.ts'
import { stopWork, withClient } from '../rows.ts'
import { journalOf, newDirOf, stagingOf } from './journal.ts'
import { SECRET_FILES, copyMissing, copyStaged, stageFile, stageSecrets } from './stage-files.ts'
import { type Swap, commitSwap, finishSwap } from './swap-data.ts'
import { type Target, openTarget } from './target-database.ts'

export interface RestoreJob {
  path: string
  dataDir: string
  environment: Environment
  loadConfig: Features['loadConfig']
  /** True if the secret key and config.yml of the archive are not restored. */
  withoutSecrets: boolean
  /** Prefix of the folder that keeps the former state. */
  formerPrefix: string
  /** True if running work continues, because only the location of the database changes. */
  continuesWork: boolean
  signal: AbortSignal
  report (progress: Progress): void
}

export interface RestoreResult {
  manifest: Manifest
  ending: ArchiveEnd
  /** Migrations that ran on the restored tables. */
  migrated: string[]
  /** Folder of the former state; null if there was none. */
  formerFolder: string | null
  formerDatabase: string | null
}

const IDENTITY = 'identity'
/** Retries the removal, because a PostgreSQL whose supervisor died may write into the folder for up to a minute. */
const REMOVE_OPTIONS = { recursive: true, force: true, maxRetries: 5 }
const DATABASE = 'db'
/** Names that the new state replaces, if it contains them. */
const NAMES = { everything: [DATABASE, ...FOLDERS, IDENTITY, ...SECRET_FILES], database: [DATABASE] }

/** @throws StartError if the archive's secrets need a passphrase that is not set */
function requirePassphrase ({ secrets }: Manifest, { path, environment, withoutSecrets }: RestoreJob): void {
  if (secrets === 'left out' || withoutSecrets || (environment.SVC_BACKUP_PASSPHRASE ?? '') !== '') return
  throw new StartError(`The secret key and config.yml in ${path} are encrypted. Set SVC_BACKUP_PASSPHRASE to the passphrase of ` +
    'the backup, or skip both with --without-secret-key. Nothing was changed.')
}

const readIdentity = async (dataDir: string): Promise<string | null> =>
  (await readFile(join(dataDir, IDENTITY), 'utf8').catch(() => null))?.trim() ?? null

/** @throws StartError for a database-only backup whose files are not in this data directory */
async function requireOwnFiles (
  { holds, identity }: Manifest, { path, dataDir, continuesWork }: RestoreJob
): Promise<void> {
  // The first databases had no identity.
  if (holds === 'everything' || continuesWork || identity === null || await readIdentity(dataDir) === identity) return
  throw new StartError(`${path} contains only a database, and ${dataDir} is not the data directory that it was made from, whose ` +
    'saves and pictures it needs. Restore it into that data directory. Nothing was changed.')
}

/** Checks that no folder is a mount point, because a rename cannot replace one. @throws StartError */
export async function requireOneDisk (dataDir: string, holds: Manifest['holds']): Promise<void> {
  const { dev } = await stat(dataDir)
  for (const name of NAMES[holds]) {
    const found = await lstat(join(dataDir, name)).catch(() => null)
    if (found === null || found.dev === dev) continue
    throw new StartError(`${join(dataDir, name)} is a mount point, which a restore cannot replace. Mount the data directory above ` +
      'it instead, or restore into another SVC_DATA_DIR. Nothing was changed.')
  }
}

async function filter<T> (values: readonly T[], isWanted: (value: T) => Promise<boolean>): Promise<T[]> {
  const wanted = await Promise.all(values.map(isWanted))
  return values.filter((_value, index) => wanted[index])
}

/** Reads the whole archive before any file is written. @returns its secrets in their stored form */
async function readFirst (job: RestoreJob): Promise<{ manifest: Manifest, secrets: Map<string, Buffer> }> {
  const secrets = new Map<string, Buffer>()
  const { manifest } = await readArchive(job.path, {
    manifest: async (found) => {
      requireKnownTables(found)
      requirePassphrase(found, job)
      await requireOwnFiles(found, job)
      await requireOneDisk(job.dataDir, found.holds)
    },
    secret: (name, content) => { secrets.set(name, content) }
  }, countBytes(job, 'check'), job.signal)
  return { manifest, secrets }
}

function countBytes ({ report }: RestoreJob, phase: Progress['phase']) {
  let bytes = 0
  return (count: number) => {
    bytes += count
    report({ phase, rows: 0, files: 0, bytes })
  }
}

/** Loads the tables into an empty database, and the files into the new folder. */
async function fill (job: RestoreJob, newDir: string, url: string): Promise<ArchiveEnd> {
  return await withClient(url, async (tx) => {
    const loader = createLoader(tx, url)
    const { ending } = await readArchive(job.path, {
      ...loader.visitor, file: (path, content) => stageFile(newDir, path, content)
    }, countBytes(job, 'tables'), job.signal)
    await loader.close()
    return ending
  })
}

/**
 * Copies the pictures of the same installation. Those of another installation belong to other ROMs. Pictures in a
 * bucket stay there.
 */
async function copyArtwork (dataDir: string, newDir: string, { store, identity }: {
  store: Store, identity: string | null
}): Promise<void> {
  if (store.folder === null) return
  if (identity === null || await readIdentity(dataDir) !== identity) return
  await copyMissing(join(dataDir, 'resources'), join(newDir, 'resources'))
}

async function stageFolders (newDir: string, { identity }: Manifest): Promise<void> {
  for (const name of FOLDERS) await mkdir(join(newDir, name), { mode: 0o755 })
  if (identity !== null) await writeFile(join(newDir, IDENTITY), `${identity}\n`, { mode: 0o600 })
}

/**
 * Uploads the staged files to a store on another machine. Nothing refers to them until the new rows are active. Uploads
 * of users never replace one another, because the key names the content. Pictures and manuals may be replaced.
 */
async function publishStaged (job: RestoreJob, config: Config, newDir: string): Promise<void> {
  const store = createStore(config)
  if (store.folder !== null) return
  const progress = countBytes(job, 'files')
  await copyStaged(createFsStore(newDir), store, progress, job.signal)
  for (const folder of STORE_FOLDERS) await rm(join(newDir, folder), REMOVE_OPTIONS)
}

interface Staged { ending: ArchiveEnd, migrated: string[], swap: Swap['database'] }

/** Stages the new state beside the old one. At its end the database has the schema of this release. */
async function stageAll (job: RestoreJob, config: Config, manifest: Manifest, stamp: string): Promise<Staged> {
  const newDir = newDirOf(job.dataDir)
  if (manifest.holds === 'everything') await stageFolders(newDir, manifest)
  const target: Target = await openTarget(config, stamp)
  try {
    const ending = await fill(job, newDir, target.url)
    const migrated = await migrateRestored(target.url)
    if (!job.continuesWork) await withClient(target.url, stopWork)
    if (manifest.holds === 'everything') {
      await copyArtwork(job.dataDir, newDir, { store: createStore(config), identity: manifest.identity })
      await publishStaged(job, config, newDir)
    }
    await target.stop()
    return { ending, migrated, swap: target.swap }
  } catch (err) {
    await target.discard()
    throw err
  }
}

/**
 * Restores a backup. Only the holder of the lock on the data directory may call it.
 *
 * @throws StartError with the reason; then nothing was changed
 */
export async function restoreLocked (job: RestoreJob): Promise<RestoreResult> {
  const { dataDir, environment } = job
  const { manifest, secrets } = await readFirst(job)
  const newDir = newDirOf(dataDir)
  // A killed restore left this staging folder before it replaced anything.
  await rm(stagingOf(dataDir), REMOVE_OPTIONS)
  await mkdir(newDir, { recursive: true, mode: 0o700 })
  try {
    const isSealed = manifest.secrets === 'sealed'
    const passphrase = environment.SVC_BACKUP_PASSPHRASE
    await stageSecrets(dataDir, newDir, { found: secrets, isSealed, passphrase, isSkipped: job.withoutSecrets })
    const stamp = stampOf(new Date())
    const { config } = await job.loadConfig({ ...environment, SVC_DATA_DIR: newDir })
    const { ending, migrated, swap } = await stageAll(job, config, manifest, stamp)
    const names = await filter(NAMES[manifest.holds], (name) => isPresent(join(newDir, name)))
    const formerName = `${job.formerPrefix}-${stamp}`
    const hadFiles = (await filter(names, (name) => isPresent(join(dataDir, name)))).length > 0
    job.signal.throwIfAborted()
    await commitSwap(dataDir, { names, kept: formerName, database: swap })
    await finishSwap(dataDir)
    const formerFolder = hadFiles ? join(dataDir, formerName) : null
    return { manifest, ending, migrated, formerFolder, formerDatabase: swap?.kept ?? null }
  } catch (err) {
    // After the commit of the swap, the next command continues. Before it no staged file may remain.
    if (!await isPresent(journalOf(dataDir))) await rm(stagingOf(dataDir), REMOVE_OPTIONS)
    throw err
  }
}

/**
 * Replaces a data directory and its database with the content of an archive. If killed at any moment, it leaves all of
 * the old state or, after the next command, all of the new one.
 *
 * @throws StartError with the reason; then nothing was changed
 */
export async function restoreBackup (job: RestoreJob): Promise<RestoreResult> {
  const lock = lockDataDir(job.dataDir)
  if (lock === null) {
    throw new StartError(`A server, or another svc command, is using ${job.dataDir}. Stop it, then repeat this command.`, { exitCode: EXIT_CODES.temporary })
  }
  try {
    return await restoreLocked(job)
  } finally {
    lock.release()
  }
}
