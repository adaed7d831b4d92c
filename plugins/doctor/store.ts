import { randomUUID } from 'node:crypto'
import type pg from 'pg'
import { createStore } from '../../core/store/create-store.ts'
import type { Store } from '../../core/store/store.ts'
import { createSemaphore } from '../../core/concurrency/semaphore.ts'
import { type CheckInput, type Finding, fail, ok, reasonOf, warn } from './finding.ts'
import { type NamedFile, selectArtwork, selectNamedFiles, selectPlatformIds, selectSomeArtwork } from './rows.ts'

const SUBJECT = 'store'
/** The folder of uploads in the store. */
const ASSETS = 'assets'
/** The folder of artwork and manuals in the store. */
const RESOURCES = 'resources'
/** Pictures and documents that people chose or uploaded. */
const OWN_ARTWORK = /^resources\/(?:collections\/|.*\/manual\/[^/]+$|.*\/own-[^/]*$)/
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
    isWhole((await store.stat(file.key))?.size, file))))
  return files.filter((_file, index) => checked[index] === false)
}

/** Compares files in one folder with the list of the store, which takes far fewer requests. */
async function findAllDamaged (store: Store, folder: string, files: readonly NamedFile[]): Promise<NamedFile[]> {
  const sizes = new Map<string, number>()
  for await (const { key, size } of store.list(folder)) sizes.set(key, size)
  return files.filter((file) => !isWhole(sizes.get(file.key), file))
}

/** The files that were looked for, and those that are missing or have another size. */
interface Examined { count: number, damaged: NamedFile[], isSample: boolean }

const describe = ({ count, isSample }: Examined) =>
  isSample ? `${count} files of rows${count < SAMPLE_ROWS ? '' : ', chosen at random,'}` : `all ${count} files of rows`

const listPaths = (damaged: readonly NamedFile[]) => damaged.slice(0, NAMED_MAX).map(({ key }) => key.slice(key.indexOf('/') + 1))

async function examineUploads (store: Store, pool: pg.Pool, isFull: boolean): Promise<Finding> {
  const files = await selectNamedFiles(pool, isFull ? null : SAMPLE_ROWS)
  const damaged = await (isFull ? findAllDamaged(store, ASSETS, files) : findDamaged(store, files))
  const examined = { count: files.length, damaged, isSample: !isFull }
  if (damaged.length === 0) return ok('uploads', `${describe(examined)} are in ${store.name}`)
  return fail('uploads', `${damaged.length} of ${describe(examined)} are missing in ${store.name} or have another size`,
    isFull ? 'Restore these files from a backup' : 'Run svc doctor --full for all of them, then restore them from a backup',
    listPaths(damaged))
}

/** Looks for the artwork of all platforms, of one after the other. */
async function examineAllArtwork (store: Store, pool: pg.Pool): Promise<Examined> {
  const examined: Examined = { count: 0, damaged: [], isSample: false }
  for (const id of [null, ...await selectPlatformIds(pool)]) {
    const files = await selectArtwork(pool, id)
    examined.count += files.length
    const folder = id === null ? `${RESOURCES}/collections` : `${RESOURCES}/roms/${id}`
    examined.damaged.push(...await findAllDamaged(store, folder, files))
  }
  return examined
}

async function examineSomeArtwork (store: Store, pool: pg.Pool): Promise<Examined> {
  const files = await selectSomeArtwork(pool, SAMPLE_ROWS)
  return { count: files.length, damaged: await findDamaged(store, files), isSample: true }
}

/** Looks for artwork and manuals. A scan downloads those of providers again, but not those of people. */
async function examineArtwork (store: Store, pool: pg.Pool, isFull: boolean): Promise<Finding> {
  const examined = await (isFull ? examineAllArtwork : examineSomeArtwork)(store, pool)
  const { damaged } = examined
  const who = describe(examined)
  if (damaged.length === 0) return ok('artwork', `${who} are in ${store.name}`)
  const own = damaged.filter(({ key }) => OWN_ARTWORK.test(key))
  const all = isFull ? '' : 'Run svc doctor --full for all of them. '
  if (own.length === 0) {
    return warn('artwork', `${damaged.length} of ${who} are missing in ${store.name}`, `${all}Run an update scan, which downloads them again`, listPaths(damaged))
  }
  return fail('artwork', `${damaged.length} of ${who} are missing in ${store.name}, of which people chose or uploaded ${own.length}`,
    `${all}Restore these files from a backup, then run an update scan, which downloads the others again`, listPaths(own))
}

/** Checks the store of uploads and artwork. @param pool null if there is no database with the schema of this release */
export async function examineStore ({ config, isFull }: CheckInput, pool: pg.Pool | null): Promise<Finding[]> {
  const store = createStore(config)
  const access = await examineAccess(store)
  if (access.status !== 'ok' || pool === null) return [access]
  return [access, await examineUploads(store, pool, isFull), await examineArtwork(store, pool, isFull)]
}
