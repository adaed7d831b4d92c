import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { createStore } from '../../core/store/create-store.ts'
import type { Store } from '../../core/store/store.ts'
import { createSemaphore } from '../../core/semaphore.ts'
import { type CheckInput, type Finding, fail, ok, reasonOf } from './finding.ts'
import { type NamedFile, selectNamedFiles } from './rows.ts'

const SUBJECT = 'store'
/** The folder of uploads in the store. */
const ASSETS = 'assets'
/** Rows whose files are looked for without --full. */
const SAMPLE_ROWS = 200
const STATS_AT_ONCE = 8
/** Missing files that the finding names. */
const NAMED_MAX = 10
const REMEDY = 'Check SVC_STORE_URL, the credentials and the network between this machine and the store'

/**
 * Writes, reads and deletes an object, because only that shows the rights. The data directory has a check of its own.
 */
async function examineAccess (store: Store): Promise<Finding> {
  if (store.folder !== null) return ok(SUBJECT, `Uploads are in ${store.folder}`)
  const key = `${ASSETS}/.svc-doctor-${randomUUID()}`
  try {
    await store.put(key, Buffer.from('test'))
    const found = await store.stat(key)
    await store.delete([key])
    if (found?.size === 4) return ok(SUBJECT, `${store.name} answers and can be written`)
    return fail(SUBJECT, `${store.name} does not show an object that was just written`, 'Use a store that reads its own writes, as S3 does')
  } catch (err) {
    return fail(SUBJECT, `${store.name} cannot be used: ${reasonOf(err)}`, REMEDY)
  }
}

const isWhole = (size: number | undefined, file: NamedFile) =>
  size !== undefined && (file.size === null || file.size === size)

/** Looks for each file of a sample. */
async function findDamaged (store: Store, files: readonly NamedFile[]): Promise<NamedFile[]> {
  const semaphore = createSemaphore(STATS_AT_ONCE)
  const checked = await Promise.all(files.map((file) => semaphore.run(async () =>
    isWhole((await store.stat(`${ASSETS}/${file.path}`))?.size, file))))
  return files.filter((_file, index) => checked[index] === false)
}

/** Compares the files of all rows with the list of the store, which takes far fewer requests. */
async function findAllDamaged (store: Store, files: readonly NamedFile[]): Promise<NamedFile[]> {
  const sizes = new Map<string, number>()
  for await (const { key, size } of store.list(ASSETS)) sizes.set(key.slice(ASSETS.length + 1), size)
  return files.filter((file) => !isWhole(sizes.get(file.path), file))
}

/** Looks for the files that rows name: some of them, or all. */
async function examineFiles (store: Store, pool: pg.Pool, isFull: boolean): Promise<Finding> {
  const files = await selectNamedFiles(pool, isFull ? null : SAMPLE_ROWS)
  const damaged = await (isFull ? findAllDamaged : findDamaged)(store, files)
  const examined = isFull ? `all ${files.length} files of rows` : `${files.length} files of rows${files.length < SAMPLE_ROWS ? '' : ', chosen at random,'}`
  if (damaged.length === 0) return ok('uploads', `${examined} are in ${store.name}`)
  return fail('uploads', `${damaged.length} of ${examined} are missing in ${store.name} or have another size`,
    isFull ? 'Restore these files from a backup' : 'Run svc doctor --full for all of them, then restore them from a backup',
    damaged.slice(0, NAMED_MAX).map(({ path }) => path))
}

/** Checks the store of uploads. @param pool null if there is no database with the schema of this release */
export async function examineStore ({ config, isFull }: CheckInput, pool: pg.Pool | null): Promise<Finding[]> {
  const store = createStore(config)
  const access = await examineAccess(store)
  if (access.status !== 'ok' || pool === null) return [access]
  return [access, await examineFiles(store, pool, isFull)]
}
