import { constants, createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import type { Config } from '../../core/config/config.ts'
import { requireKnownSchema } from '../../core/database/known-schema.ts'
import { ApiError, conflict } from '../../core/errors.ts'
import { errorCode, ifPresent } from '../../core/files/fs-error.ts'
import { requireFreeSpace } from '../../core/files/free-space.ts'
import { openIfPresent } from '../../core/store/open-object.ts'
import { createStore } from '../../core/store/create-store.ts'
import type { Store } from '../../core/store/store.ts'
import { VERSION } from '../../core/version.ts'
import { ASSETS, contentKey } from '../assets/asset-files.ts'
import { loadNamed } from '../assets/stored-files.ts'
import { migrations } from '../migrations.ts'
import {
  ENDING, type ArchiveEnd, FILES, MANIFEST, type Manifest, PARTS, SECRETS, TABLES, type TableDescription, newManifest
} from './archive/manifest.ts'
import { storePart, partsFolder } from './archive/archive-parts.ts'
import { type ArchiveWriter, writeArchive } from './archive/write-archive.ts'
import { copyPath, deleteUnfinished, incompletePath, unfinishedPath } from './backup-folder.ts'
import { type Checked, checkArchive } from './check-backup.ts'
import { isRemote, listOwnFiles } from './files.ts'
import type { Progress } from './progress.ts'
import { beginSnapshot, claimBackup, copyOut, describeDatabase, endSnapshot, withClient } from './rows.ts'
import { requireSpace } from './require-space.ts'
import { sealWith } from './seal-secrets.ts'

/** The size of a table's part, which is held in memory and becomes one entry of the archive. */
const PART_BYTES = 4 * 1024 ** 2
const READ_BYTES = 256 * 1024
/** Files up to this size are read whole, because files that change in place must be consistent. */
const SMALL_BYTES = 1024 ** 2
const MISSING_NAMED_MAX = 20
const NEWLINE = 10

export interface BackupJob {
  config: Config
  databaseUrl: string
  path: string
  /** True if the name of the backup shall tell that it lacks uploads. */
  namesIncomplete: boolean
  /** True if the contents of files go into the folder beside the archive that all archives there share. */
  isIncremental: boolean
  /** The database alone comes without files, secrets and config.yml. */
  holds: Manifest['holds']
  /** Null skips the secret key; config.yml is then stored unencrypted. */
  passphrase: string | null
  signal: AbortSignal
  report (progress: Progress): void
}

/** @property lost the number of uploads of the database that were not on the disk */
export interface BackupResult extends ArchiveEnd, Checked { path: string, lost: number }

/** Cuts a table's text into parts of whole rows, so that each part can be loaded alone. */
async function * cutRows (content: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = []
  let size = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    size += chunk.length
    const end = size < PART_BYTES ? -1 : chunk.lastIndexOf(NEWLINE)
    if (end === -1) continue
    const all = Buffer.concat(chunks)
    const cut = size - chunk.length + end + 1
    yield all.subarray(0, cut)
    chunks = [all.subarray(cut)]
    size -= cut
  }
  if (size > 0) yield Buffer.concat(chunks)
}

async function * readExactly (handle: FileHandle, size: number): AsyncGenerator<Buffer> {
  if (size === 0) return
  const options = { autoClose: false, end: size - 1, highWaterMark: READ_BYTES }
  yield * handle.createReadStream(options) as AsyncIterable<Buffer>
}

/** Opens a file, but follows no link. @returns null if the file does not exist */
const openFile = (path: string): Promise<FileHandle | null> =>
  ifPresent(open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)))

/** Adds the secret key and config.yml, sealed by the passphrase if there is one. */
async function addSecrets ({ config, passphrase }: BackupJob, writer: ArchiveWriter): Promise<void> {
  const settings = await ifPresent(readFile(config.file.path))
  const seal = async (content: Buffer) => passphrase === null ? content : await sealWith(passphrase, content)
  const key = Buffer.from(`${config.auth.secret_key}\n`)
  if (passphrase !== null) await writer.buffer(`${SECRETS}secret.key`, await seal(key))
  if (settings !== null) await writer.buffer(`${SECRETS}config.yml`, await seal(settings))
}

function createManifest (
  { holds, passphrase }: BackupJob, facts: Awaited<ReturnType<typeof describeDatabase>>
): Manifest {
  const secrets = passphrase === null ? 'left out' : 'sealed'
  return newManifest({ ...facts, svc: VERSION, created_at: new Date().toISOString(), holds, secrets })
}

/** One archive that is being written, with its progress. */
interface BackupRun { job: BackupJob, writer: ArchiveWriter, progress: Progress, ending: ArchiveEnd, store: Store }

/** Opens a temporary copy of an object, whose content is then read like that of a file. */
async function openCopy ({ store, job }: BackupRun, key: string): Promise<FileHandle | null> {
  const object = await openIfPresent(store, key)
  if (object === null) return null
  await requireFreeSpace(dirname(job.path), object.size)
  const path = copyPath(job.path)
  try {
    await pipeline(object.read(0, object.size), createWriteStream(path, { mode: 0o600 }))
    return await open(path)
  } finally {
    // The open file lives on until its handle is closed.
    await rm(path, { force: true })
  }
}

async function addTable (run: BackupRun, client: pg.Client, table: TableDescription): Promise<void> {
  const { content, countRows } = copyOut(client, table)
  let part = 0
  for await (const rows of cutRows(content)) {
    run.job.signal.throwIfAborted()
    part++
    await run.writer.buffer(`${TABLES}${table.name}/${String(part).padStart(6, '0')}`, rows)
    run.job.report(run.progress)
  }
  run.ending.rows[table.name] = countRows()
  run.progress.rows += countRows()
}

async function addPart (run: BackupRun, path: string, handle: FileHandle): Promise<void> {
  const part = await storePart(partsFolder(run.job.path), handle, run.job.signal)
  await run.writer.buffer(`${PARTS}${path}`, Buffer.from(JSON.stringify(part)))
  run.ending.bytes += part.size
  run.ending.files++
}

async function addOpened (run: BackupRun, path: string, handle: FileHandle): Promise<void> {
  const { size } = await handle.stat()
  const name = `${FILES}${path}`
  if (size > SMALL_BYTES) {
    await run.writer.stream(name, size, readExactly(handle, size))
    run.ending.bytes += size
  } else {
    const content = await handle.readFile()
    await run.writer.buffer(name, content)
    run.ending.bytes += content.length
  }
  run.ending.files++
}

function countGone ({ ending }: BackupRun, path: string): void {
  ending.gone++
  if (ending.gone <= MISSING_NAMED_MAX) ending.gone_files.push(path)
}

/** A file that was deleted since it was listed is skipped, because its owner wanted that. */
async function addFile (run: BackupRun, path: string): Promise<void> {
  const handle = isRemote(run.store, path)
    ? await openCopy(run, path)
    : await openFile(join(run.job.config.data_dir, path))
  if (handle === null) {
    countGone(run, path)
    return
  }
  try {
    await (run.job.isIncremental ? addPart : addOpened)(run, path, handle)
  } finally {
    await handle.close()
  }
  run.progress.files = run.ending.files
  run.progress.bytes = run.ending.bytes
  run.job.report(run.progress)
}

/**
 * Adds all files, and counts the uploads that rows name and the store lacks.
 *
 * @param named the keys of the uploads in the snapshot of the rows
 * @returns the number of those that the store lacks
 * @throws ApiError UNAVAILABLE if the store has none of them, because the newest backups would replace those that do
 */
async function addFiles (run: BackupRun, named: Set<string>): Promise<number> {
  const { config, signal } = run.job
  const { size: count } = named
  for await (const { path } of listOwnFiles(config.data_dir, run.store)) {
    signal.throwIfAborted()
    named.delete(path)
    await addFile(run, path)
  }
  if (count > 0 && named.size === count) {
    throw new ApiError('UNAVAILABLE', `None of the ${count} saves, states and screenshots of the database is in ` +
      `${run.store.folder === null ? 'the store' : join(config.data_dir, ASSETS)}, as if its disk were not mounted. ` +
      'Mount the disk and back up again. If the files are lost, restore an earlier backup or upload a save first')
  }
  for (const path of named) countGone(run, path)
  return named.size
}

/** Writes the content of an archive, and reports progress. */
async function writeContent (
  job: BackupJob, writer: ArchiveWriter, client: pg.Client
): Promise<ArchiveEnd & Pick<BackupResult, 'lost'>> {
  const progress: Progress = { phase: 'tables', rows: 0, files: 0, bytes: 0 }
  const ending: ArchiveEnd = { entries: 0, rows: {}, files: 0, bytes: 0, gone: 0, gone_files: [] }
  const { config, holds } = job
  const store = createStore(config)
  const run: BackupRun = { job, writer, progress, ending, store }
  await beginSnapshot(client)
  const facts = await describeDatabase(client)
  requireKnownSchema(facts.migrations, migrations)
  await writer.buffer(MANIFEST, Buffer.from(JSON.stringify(createManifest(job, facts), null, 2)))
  if (holds === 'everything') await addSecrets(job, writer)
  for (const table of facts.tables) await addTable(run, client, table)
  const named = holds === 'everything' ? await loadNamed(client) : new Map<string, unknown>()
  await endSnapshot(client)
  // Files follow the rows, so that every file that a row names is included unless it was deleted since.
  progress.phase = 'files'
  const lost = holds === 'everything' ? await addFiles(run, new Set([...named.keys()].map(contentKey))) : 0
  await writer.closeLists()
  ending.entries = writer.count()
  await writer.buffer(ENDING, Buffer.from(JSON.stringify(ending, null, 2)))
  await writer.end()
  return { ...ending, lost }
}

/**
 * Writes all data that cannot be recreated into one file, reads it again, and loads its tables into a test database.
 * The server keeps running meanwhile. The file gets its final name after all of that succeeded.
 *
 * @throws StartError, ApiError (NO_FREE_SPACE, CONFLICT, UNAVAILABLE) if it cannot be made; then no file of it remains.
 */
export async function createBackup (job: BackupJob): Promise<BackupResult> {
  const part = unfinishedPath(job.path)
  await mkdir(dirname(part), { recursive: true, mode: 0o700 })
  const { databaseUrl, signal, report } = job
  return await withClient(databaseUrl, async (client) => {
    if (!await claimBackup(client)) {
      throw conflict('Another backup of this database is running; try again after it has ended')
    }
    // Only the holder of the lock writes here; killed backups may have left these files.
    await rm(part, { force: true })
    await deleteUnfinished(dirname(part))
    await requireSpace({ config: job.config, client, folder: dirname(part), hasFiles: job.holds === 'everything' && !job.isIncremental })
    const writer = writeArchive(part, signal)
    try {
      const ending = await writeContent(job, writer, client)
      const checked = await checkArchive({ path: part, client, databaseUrl, signal, report })
      const path = job.namesIncomplete && ending.lost > 0 ? incompletePath(job.path) : job.path
      await rename(part, path)
      return { ...ending, ...checked, path }
    } catch (err) {
      await writer.abort()
      await rm(part, { force: true })
      throw errorCode(err) === 'ENOSPC'
        ? new ApiError('NO_FREE_SPACE', `No space is left for ${job.path}. Free some space, or give another path.`, { cause: err })
        : err
    }
  })
}
