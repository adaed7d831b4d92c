import { lstat, readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type pg from 'pg'
import type { Db } from '../../../core/database/db.ts'
import { isNotFoundError } from '../../../core/files/fs-error.ts'
import { type FolderFile, deleteFolderFiles, selectFolderFiles, upsertFolderFile } from '../dat-rows.ts'
import { loadFile } from './load-file.ts'
import { isDatName } from './read-members.ts'
import { type LoadReport, createLoadReport } from './report.ts'

/** The most files in the folder of DATs. */
const FILES_MAX = 10_000

type FileState = Pick<FolderFile, 'path' | 'file_size_bytes' | 'modified_ms'>

/** Lists the DATs and archives in a folder and its folders, without links; null if there is no folder. */
async function listFiles (dir: string): Promise<FileState[] | null> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch((err: unknown) => {
    if (isNotFoundError(err)) return null
    throw err
  })
  if (entries === null) return null
  const files = entries.filter((entry) => entry.isFile() && isDatName(entry.name) && !entry.name.startsWith('.')).slice(0, FILES_MAX)
  return await Promise.all(files.map(async ({ parentPath, name }) => {
    const path = join(parentPath, name)
    const { size, mtimeMs } = await lstat(path)
    return { path: relative(dir, path), file_size_bytes: size, modified_ms: Math.floor(mtimeMs) }
  }))
}

const isSame = (a: FileState, b: FileState | undefined) =>
  a.file_size_bytes === b?.file_size_bytes && a.modified_ms === b.modified_ms

/**
 * Loads new and changed files of the folder of DATs, and deletes DATs whose files are gone. A missing or
 * empty folder changes nothing, because its disk may not be mounted.
 */
export async function readDatFolder (
  { db, pool, dir }: { db: Db, pool: pg.Pool, dir: string }, report: LoadReport, signal: AbortSignal
): Promise<void> {
  const files = await listFiles(dir)
  if (files === null || files.length === 0) return
  const known = new Map((await selectFolderFiles(db)).map((file) => [file.path, file]))
  const paths = new Set(files.map(({ path }) => path))
  const gone = [...known.keys()].filter((path) => !paths.has(path))
  if (gone.length > 0) await deleteFolderFiles(db, gone)
  // A file with another version of a DAT is read again when the stored version is gone.
  const changed = files.filter((file) => !isSame(file, known.get(file.path)) ||
    (gone.length > 0 && known.get(file.path)?.has_dat === false))
  for (const file of changed) {
    signal.throwIfAborted()
    const own = createLoadReport()
    const source = { path: join(dir, file.path), name: file.path, folderPath: file.path, platformSlugs: null }
    await loadFile(pool, source, own, signal)
    report.merge(own)
    await report.flush()
    const { problems, older } = own.meta
    await upsertFolderFile(db, { ...file, problem: [...problems, ...older][0]?.problem ?? null })
  }
}
