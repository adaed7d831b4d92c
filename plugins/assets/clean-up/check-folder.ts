import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import { errorCode } from '../../../core/files/fs-error.ts'
import { type FeatureFolder, listFeatureFiles, listUploads, loadNamed, requireOwnUploads } from '../stored-files.ts'
import { type Content, markPresent } from './janitor-rows.ts'
import { recover } from './orphaned-files.ts'

/** Age at which a file without a row counts as abandoned, because the row of a younger one may not be committed yet. */
const LEFTOVER_AFTER_MS = 86_400_000

/** The assets folder, and the folders of other features in it. */
interface CheckInput { base: string, features: readonly FeatureFolder[], signal: AbortSignal }

/** The result of a check of the assets folder. */
interface FolderReport {
  /** Remains of broken uploads. */
  strays: string[]
  /** Complete files that no row names. */
  unknown: string[]
  /** Files of other features that no row names. */
  orphans: string[]
  /** Number of files that a row names. */
  known: number
  /** Number of rows whose missing file was recovered from the files that were set aside. */
  recovered: number
}

async function isOld (path: string): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < Date.now() - LEFTOVER_AFTER_MS
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return false
    throw err
  }
}

async function listOld (base: string, paths: readonly string[]): Promise<string[]> {
  const old: string[] = []
  for (const path of paths) if (await isOld(join(base, path))) old.push(path)
  return old
}

async function recoverMissing (
  { db, log }: FastifyInstance, base: string, missing: readonly Content[]
): Promise<number> {
  const paths = await recover(base, missing)
  if (paths.length === 0) return 0
  await markPresent(db, paths)
  log.info({ files: paths.length }, 'files were moved back from assets/lost, because the database refers to them again')
  return paths.length
}

/** @returns the abandoned files of a feature, and the number of files that rows name */
async function checkFeature (
  db: Db, base: string, folder: FeatureFolder
): Promise<{ orphans: string[], known: number }> {
  // Files are listed before rows are loaded, so that each listed file has its row, unless that is not committed yet.
  const paths = await listFeatureFiles(base, folder)
  const named = new Set(await folder.selectNamed(db))
  const unnamed = paths.filter((path) => !named.has(path))
  return { orphans: await listOld(base, unnamed), known: paths.length - unnamed.length }
}

/**
 * Compares rows and files. The only change is that missing files are recovered.
 *
 * @param base the assets folder
 */
export async function checkFolder (
  app: FastifyInstance, config: Config, { base, features, signal }: CheckInput
): Promise<FolderReport> {
  await requireOwnUploads(config, app.db)
  // Rows are loaded before files are listed, because an upload in between must not look like a row without a file.
  const named = await loadNamed(app.db)
  const { published, incoming } = await listUploads(base)
  signal.throwIfAborted()
  const publishedPaths = new Set(published)
  const recovered = await recoverMissing(
    app, base, [...named.values()].filter(({ disk_path: path }) => !publishedPaths.has(path))
  )
  const unknown = await listOld(base, published.filter((path) => !named.has(path)))
  const known = published.filter((path) => named.has(path)).length
  const others = await Promise.all(features.map((folder) => checkFeature(app.db, base, folder)))
  return {
    strays: await listOld(base, incoming),
    unknown,
    orphans: others.flatMap(({ orphans }) => orphans),
    known: others.reduce((sum, other) => sum + other.known, known),
    recovered
  }
}
