import type { FastifyInstance } from 'fastify'
import { ApiError } from '../../../core/errors.ts'
import { withoutDateTag } from '../../assets/base-rows.ts'
import type { DeviceContext } from '../acting-device.ts'
import {
  type CurrentAsset, type FileRow, type Observed, type UnclaimedAsset, insertPaths, selectAll, selectListings,
  selectUnclaimed, storeListed, storeObserved
} from '../rows.ts'
import { emulatorOf } from './core-folders.ts'
import { type DeviceState, type PathState, chooseEntry } from './list-entry.ts'
import { foldPath, readGameFile } from './read-key.ts'
import { readMd5 } from './read-md5.ts'

const CONCURRENT_READS = 8
const NEVER_LISTED: DeviceState = { listed: null, held: null, is_sent: false, misses: 0 }

/** An entry of `manifest.server`; the hash is an MD5, empty for a deleted file. */
export interface ManifestEntry { path: string, hash: string }

/** The content of a path; null hashes for none. */
type Content = Pick<Observed, 'sha1' | 'md5' | 'file_size_bytes'>
const NO_CONTENT: Content = { sha1: null, md5: null, file_size_bytes: 0 }

/** Returns the path for an asset of another app, if its owner has files of the same core and its ROM has its name. */
function pathFor (asset: UnclaimedAsset, coreFolders: ReadonlyMap<string, string>): string | null {
  const root = asset.kind === 'save' ? 'saves' : 'states'
  const folder = asset.emulator === null ? undefined : coreFolders.get(`${root}/${emulatorOf(asset.emulator)}`)
  const file = withoutDateTag(asset.file_name)
  const isOfRom = readGameFile({ root, file })?.stems.includes(asset.fs_name_no_ext) === true
  return folder === undefined || !isOfRom || asset.kind === 'screenshot' ? null : `${root}/${folder}/${file}`
}

/** Returns the core folders of paths, by root and emulator. Paths with more folders are sorted by content as well. */
function listCoreFolders (rows: readonly FileRow[]): ReadonlyMap<string, string> {
  return new Map(rows.flatMap(({ path }) => {
    const [root, folder, file, ...deeper] = path.split('/')
    const isOfCore = root !== undefined && folder !== undefined && file !== undefined && deeper.length === 0
    return isOfCore ? [[`${root}/${emulatorOf(folder)}`, folder] as const] : []
  }))
}

/** Creates the lists of all files of a user, as devices read them. */
export function createLists (app: FastifyInstance) {
  /** Returns the hashes of an asset; null if its content cannot be read now. */
  async function hashAsset (
    context: DeviceContext, { kind, id, content_hash: contentHash }: CurrentAsset
  ): Promise<Content | null> {
    const opened = await app.assets.open(context, { kind, id }).catch((err: unknown) => {
      if (err instanceof ApiError) return null
      throw err
    })
    if (opened === null) return null
    const { row, content: { object } } = opened
    const { sha1, file_size_bytes: size } = row
    try {
      const md5 = await readMd5(object, size, row.content_hash === contentHash ? contentHash : null)
      return { sha1, md5, file_size_bytes: size }
    } catch (err) {
      app.log.warn({ err, [kind]: id }, 'the content of an asset cannot be read, and is listed for WebDAV as before')
      return null
    }
  }

  /** Returns the content of a path. Content that cannot be read is listed as before, so that no device replaces it. */
  async function readContent (context: DeviceContext, row: FileRow): Promise<Content> {
    const { asset, sha1, md5, file_size_bytes: size, disk_path: diskPath } = row
    const known = { sha1, md5, file_size_bytes: size }
    if (asset === null) return diskPath === null ? NO_CONTENT : known
    if (asset.deleted_by !== null) return NO_CONTENT
    const isKnown = sha1 === asset.sha1 && md5 !== null && md5 !== ''
    return isKnown ? known : await hashAsset(context, asset) ?? known
  }

  async function observe (context: DeviceContext, row: FileRow): Promise<Observed> {
    const { id, asset, updated_at: updatedAt } = row
    const isDeleted = asset === null ? row.is_deleted : asset.deleted_by === 'owner'
    const content = await readContent(context, row)
    return { id, asset_id: asset?.id ?? null, is_deleted: isDeleted, updated_at: updatedAt, ...content }
  }

  async function observeAll (context: DeviceContext, rows: readonly FileRow[]): Promise<Observed[]> {
    const observed: Observed[] = []
    for (let start = 0; start < rows.length; start += CONCURRENT_READS) {
      const batch = rows.slice(start, start + CONCURRENT_READS)
      observed.push(...await Promise.all(batch.map((row) => observe(context, row))))
    }
    return observed
  }

  /** Adds paths for saves and states of other apps. @returns true if there are new ones */
  async function offer (context: DeviceContext, rows: readonly FileRow[]): Promise<boolean> {
    const coreFolders = listCoreFolders(rows)
    if (coreFolders.size === 0) return false
    const paths = new Map<string, { path: string, folded: string, asset_id: number, rom_id: number }>()
    for (const asset of await selectUnclaimed(context, null)) {
      const path = pathFor(asset, coreFolders)
      const folded = foldPath(path ?? '')
      if (path === null || paths.has(folded)) continue
      paths.set(folded, { path, folded, asset_id: asset.id, rom_id: asset.rom_id })
    }
    await insertPaths(context.db, context.caller.id, [...paths.values()])
    return paths.size > 0
  }

  const isChanged = (row: FileRow, now: Observed) => row.sha1 !== now.sha1 || row.md5 !== now.md5 ||
    (row.asset?.id ?? null) !== now.asset_id || row.is_deleted !== now.is_deleted

  /** Lists the files for a device, and stores what it was told. */
  return async function list (context: DeviceContext): Promise<ManifestEntry[]> {
    const { db, device } = context
    const known = await selectAll(context)
    const rows = await offer(context, known) ? await selectAll(context) : known
    const observed = await observeAll(context, rows)
    await storeObserved(db, rows.flatMap((row, index) => {
      const now = observed[index]
      return now !== undefined && isChanged(row, now) ? [now] : []
    }))
    const states = await selectListings(db, device.id, null)
    const sendsOnly = device.sync_mode === 'push_only'
    const listed = rows.flatMap(({ path }, index) => {
      const now = observed[index]
      if (now === undefined) return []
      const md5 = now.md5 ?? ''
      // Without a hash the entry would be that of a deletion.
      const state: PathState = { ...now, sha1: md5 === '' ? null : now.sha1 }
      return [{ path, md5, file_id: now.id, ...chooseEntry(state, states.get(now.id) ?? NEVER_LISTED, sendsOnly) }]
    })
    await storeListed(db, device.id, listed)
    return listed.flatMap(({ path, md5, listed: entry }) => entry === null ? [] : [{ path, hash: entry === '' ? '' : md5 }])
  }
}
