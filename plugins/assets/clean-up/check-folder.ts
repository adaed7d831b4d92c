import type { FastifyInstance } from 'fastify'
import type { Config } from '../../../core/config/config.ts'
import type { Db } from '../../../core/database/db.ts'
import type { Store } from '../../../core/store/store.ts'
import { type FeatureFolder, type UploadedFile, listUploads, loadNamed, requireOwnUploads } from '../stored-files.ts'
import { type Content, markPresent } from './janitor-rows.ts'
import { recover } from './orphaned-files.ts'

/** Age at which a file without a row counts as abandoned, because the row of a younger one may not be committed yet. */
export const LEFTOVER_AFTER_MS = 86_400_000

/** The store of the assets, and the folders of other features among them. */
interface CheckInput { store: Store, features: readonly FeatureFolder[], signal: AbortSignal }

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

const listOld = (files: readonly UploadedFile[]): string[] =>
  files.filter(({ modifiedAt }) => modifiedAt.getTime() < Date.now() - LEFTOVER_AFTER_MS).map(({ path }) => path)

async function recoverMissing (
  { db, log }: FastifyInstance, store: Store, missing: readonly Content[]
): Promise<number> {
  const paths = await recover(store, missing)
  if (paths.length === 0) return 0
  await markPresent(db, paths)
  log.info({ files: paths.length }, 'files were moved back from assets/lost, because the database refers to them again')
  return paths.length
}

/** @returns the abandoned files of a feature, and the number of files that rows name */
async function checkFeature (
  db: Db, files: readonly UploadedFile[], folder: FeatureFolder
): Promise<{ orphans: string[], known: number }> {
  // Files are listed before rows are loaded, so that each listed file has its row, unless that is not committed yet.
  const named = new Set(await folder.selectNamed(db))
  const unnamed = files.filter(({ path }) => !named.has(path))
  return { orphans: listOld(unnamed), known: files.length - unnamed.length }
}

/** Compares rows and files. The only change is that missing files are recovered. */
export async function checkFolder (
  app: FastifyInstance, config: Config, { store, features, signal }: CheckInput
): Promise<FolderReport> {
  await requireOwnUploads(config, app.db)
  // Rows are loaded before files are listed, because an upload in between must not look like a row without a file.
  const named = await loadNamed(app.db)
  const { published, incoming, others: ofFeatures } = await listUploads(store)
  signal.throwIfAborted()
  const publishedPaths = new Set(published.map(({ path }) => path))
  const recovered = await recoverMissing(
    app, store, [...named.values()].filter(({ disk_path: path }) => !publishedPaths.has(path))
  )
  const unknown = listOld(published.filter(({ path }) => !named.has(path)))
  const known = published.filter(({ path }) => named.has(path)).length
  const others = await Promise.all(
    features.map((folder) => checkFeature(app.db, ofFeatures.get(folder.name) ?? [], folder)))
  return {
    strays: listOld(incoming),
    unknown,
    orphans: others.flatMap(({ orphans }) => orphans),
    known: others.reduce((sum, other) => sum + other.known, known),
    recovered
  }
}
