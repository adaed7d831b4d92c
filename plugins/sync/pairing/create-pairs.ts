import { type Decision, type Direction, type StoredContent, decide, isHashOf, limitDirection } from '../decide.ts'
import type { Pair } from '../pair.ts'
import type { ListedFile, Listing } from '../read-listing.ts'
import type { AssetRow, BaseRow, FormerRow } from '../rows.ts'
import {
  type FormerContents, type SyncTarget, addAssets, addBases, addFormer, addListed, addMissing, createTargets, isNewer
} from './sync-targets.ts'

/** Returns the newest asset of each slot, whatever its name. */
function listSlotHeads (assets: readonly AssetRow[]): Map<string, AssetRow> {
  const heads = new Map<string, AssetRow>()
  for (const asset of assets) {
    if (asset.slot === null) continue
    const slotKey = `${asset.rom_id}/${asset.slot}`
    const head = heads.get(slotKey)
    if (head === undefined || isNewer(asset, head)) heads.set(slotKey, asset)
  }
  return heads
}

const noop = (reason: string): Decision => ({ action: 'noop', reason, newBase: null })

/** Creates the function that decides about a pair. @param listing how the device lists its files */
function createDecide ({ restores_unlisted: restoresUnlisted }: Pick<Listing, 'restores_unlisted'>) {
  /** @param former former contents of the target; null before they are loaded */
  return function decidePair (
    { file, asset, base }: Pick<Pair, 'file' | 'asset' | 'base'>, target: SyncTarget | null, former: FormerContents | null
  ): Decision {
    const hash = file?.hash ?? null
    const isFile = (content: StoredContent) => hash !== null && isHashOf(hash, content)
    const deleted = former?.deleted ?? []
    const missing = target?.missing ?? []
    return decide({
      device: file,
      server: asset,
      base: asset === null && deleted[0] !== undefined ? target?.[deleted[0].kind] ?? null : base,
      former: former?.contents.filter(isFile).sort((one, other) => other.updated_at - one.updated_at)[0] ?? null,
      is_deleted: deleted.length > 0,
      is_deleted_content: deleted.some(isFile),
      is_missing: missing.length > 0,
      is_missing_content: missing.some(isFile),
      is_untracked: asset?.is_untracked === true,
      last_synced_at: asset?.last_synced_at ?? null,
      restores_unlisted: restoresUnlisted
    })
  }
}

/**
 * Returns true for a target whose newest asset the device did not list and may get. For ROMs that the device did not
 * name, it gets only files with a base.
 */
function createIsOffered ({ rom_ids: romIds }: Pick<Listing, 'rom_ids'>) {
  const named = romIds === null ? null : new Set(romIds)
  return (target: SyncTarget): boolean => {
    const { newest, listed } = target
    if (listed !== null || newest === null || newest.conflict_of !== null) return false
    return named === null || named.has(newest.rom_id) || target[newest.kind] !== null
  }
}

/** True unless the device lists another file with the same key, which is paired in its place. */
const isPaired = (file: ListedFile | null, target: SyncTarget | null): boolean =>
  file === null || target === null || target.listed === file

/** Pairs the files that a device lists with the server's assets, and decides about each pair. */
export function createPairs (listing: Listing, stored: readonly AssetRow[], bases: readonly BaseRow[]) {
  // Missing files cannot be downloaded. They count as absent, but an upload may bring them back.
  const assets = stored.filter((asset) => !asset.missing_from_fs)
  const targets = createTargets(listing)
  addMissing(targets, stored.filter((asset) => asset.missing_from_fs))
  const withAssets = addAssets(targets, assets)
  addBases(targets, bases, listing)
  const listed = addListed(targets, listing)
  const heads = listSlotHeads(assets)
  const decidePair = createDecide(listing)
  const pairs: Pair[] = []

  /** Adds the pair of a file, an asset, or both. */
  function add (file: ListedFile | null, asset: AssetRow | null, target: SyncTarget | null): void {
    const subject = asset ?? file
    if (subject === null) return
    const base = target?.[subject.kind] ?? null
    pairs.push({
      rom_id: subject.rom_id,
      kind: subject.kind,
      file,
      asset,
      base,
      is_replaceable: asset !== null && (asset.slot === null || heads.get(`${asset.rom_id}/${asset.slot}`) === asset),
      decision: isPaired(file, target)
        ? decidePair({ file, asset, base }, target, null)
        : noop('The device lists another file of this name or slot, which is synced')
    })
  }

  for (const [index, file] of listing.files.entries()) {
    const target = listed[index] ?? null
    add(file, target?.newest ?? null, target)
  }
  for (const target of withAssets.filter(createIsOffered(listing))) add(null, target.newest, target)

  return {
    /** Lists the pairs that need former contents, because the device might upload content that the server once had. */
    listOpen (): Pair[] {
      return pairs.filter(({ file, asset, decision: { action } }) =>
        (asset === null || action === 'conflict' || action === 'upload') &&
          (file === null || isPaired(file, targets.find(file, file.key))))
    },

    /** Decides the open pairs again with their former contents. */
    decideAgain (open: readonly Pair[], former: readonly FormerRow[], visible: ReadonlySet<number>): void {
      addFormer(targets, assets, former)
      for (const pair of open) {
        const target = pair.file === null ? null : targets.find(pair.file, pair.file.key)
        pair.decision = pair.asset === null && !visible.has(pair.rom_id)
          ? noop('The server has no such ROM')
          : decidePair(pair, target, target?.former ?? null)
      }
    },

    /**
     * Returns all pairs that the response contains, limited to the direction of the device and to storable file names.
     */
    finish (direction: Direction): readonly Pair[] {
      for (const pair of pairs) {
        const decision = limitDirection(pair.decision, direction)
        const isSent = decision.action === 'upload' || decision.action === 'conflict'
        pair.decision = isSent && pair.file?.is_storable === false
          ? noop('The server does not accept this file name; rename the file on the device')
          : decision
      }
      return pairs.filter(({ file, decision }) => file !== null || decision.action !== 'noop')
    }
  }
}
