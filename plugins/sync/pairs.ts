import type { AssetKind } from '../assets/entities.ts'
import { type Decision, type Direction, type StoredContent, decide, isHashOf, narrow } from './decide.ts'
import type { ListedFile, Listing } from './read-listing.ts'
import type { AssetRow, BaseRow, FormerRow } from './rows.ts'

/** A file of the device, of the server, or of both, with its decision. */
export interface Pair {
  rom_id: number
  kind: AssetKind
  file: ListedFile | null
  asset: AssetRow | null
  /** The content that the device and the server last agreed on. */
  base: BaseRow | null
  /** True if an upload can replace the asset. In a slot this holds only for the newest asset. */
  is_replaceable: boolean
  decision: Decision
}

/** A file or slot of a ROM, with its base for each kind. */
interface SyncTarget extends Record<AssetKind, BaseRow | null> {
  /** The newest asset of the server for this target. */
  newest: AssetRow | null
  isListed: boolean
}

/** Former contents of the server for one file or slot. */
interface Past { contents: StoredContent[], deleted: FormerRow[] }

/**
 * Returns a function that finds or creates targets by ROM and key; it returns null for an unpaired file. Nested maps
 * avoid a combined text key for each of ten thousand lookups.
 */
function createPlaces () {
  const ofRoms = new Map<number, Map<string, SyncTarget>>()
  return function placeOf ({ rom_id: romId }: { rom_id: number }, key: string | null): SyncTarget | null {
    if (key === null) return null
    const ofRom = ofRoms.get(romId) ?? new Map<string, SyncTarget>()
    if (ofRom.size === 0) ofRoms.set(romId, ofRom)
    const known = ofRom.get(key)
    if (known !== undefined) return known
    const place: SyncTarget = { newest: null, save: null, state: null, screenshot: null, isListed: false }
    ofRom.set(key, place)
    return place
  }
}

const isNewer = (one: AssetRow, other: AssetRow) =>
  one.updated_at === other.updated_at ? one.id > other.id : one.updated_at > other.updated_at

/** Returns the newest asset of each slot, whatever its name. */
function listSlotHeads (assets: readonly AssetRow[]): Map<string, AssetRow> {
  const heads = new Map<string, AssetRow>()
  for (const asset of assets) {
    if (asset.slot === null) continue
    const place = `${asset.rom_id}/${asset.slot}`
    const head = heads.get(place)
    if (head === undefined || isNewer(asset, head)) heads.set(place, asset)
  }
  return heads
}

const unaskable = (reason: string): Decision => ({ action: 'noop', reason, agreed: null })

/** Pairs the files that a device lists with the server's assets, and decides about each pair. */
export function createPairs (listing: Listing, stored: readonly AssetRow[], bases: readonly BaseRow[]) {
  // Missing files cannot be downloaded. They count as absent, but an upload may bring them back.
  const assets = stored.filter((asset) => !asset.missing_from_fs)
  const lost = stored.filter((asset) => asset.missing_from_fs)
  const placeOf = createPlaces()
  const placeOfAsset = (asset: AssetRow | FormerRow) => placeOf(asset, listing.keyOf(asset))
  const missing = Map.groupBy(lost, placeOfAsset)
  missing.delete(null)
  const past = new Map<SyncTarget, Past>()
  const named = listing.rom_ids === null ? null : new Set(listing.rom_ids)
  const heads = listSlotHeads(assets)
  const pairs: Pair[] = []

  function pastOf (place: SyncTarget): Past {
    const known = past.get(place) ?? { contents: [], deleted: [] }
    past.set(place, known)
    return known
  }

  /** @returns the targets with at least one asset */
  function addAssets (): SyncTarget[] {
    const places: SyncTarget[] = []
    for (const asset of assets) {
      const place = placeOfAsset(asset)
      if (place === null) continue
      const { newest } = place
      if (newest === null) places.push(place)
      const isNewest = newest === null || isNewer(asset, newest)
      if (isNewest) place.newest = asset
      if (newest !== null) pastOf(place).contents.push(isNewest ? newest : asset)
    }
    return places
  }

  function addBases (): void {
    for (const base of bases) {
      const place = placeOf(base, base.key.slice(listing.key_start.length))
      if (place !== null) place[base.kind] = base
    }
  }

  function decideFor (
    { file, asset, base }: Pick<Pair, 'file' | 'asset' | 'base'>, place: SyncTarget | null, past: Past | null
  ): Decision {
    const hash = file?.hash ?? null
    const isFile = (content: StoredContent) => hash !== null && isHashOf(hash, content)
    const deleted = past?.deleted ?? []
    const gone = missing.get(place) ?? []
    return decide({
      device: file,
      server: asset,
      base: asset === null && deleted[0] !== undefined ? place?.[deleted[0].kind] ?? null : base,
      former: past?.contents.filter(isFile).sort((one, other) => other.updated_at - one.updated_at)[0] ?? null,
      is_deleted: deleted.length > 0,
      is_deleted_content: deleted.some(isFile),
      is_missing: gone.length > 0,
      is_missing_content: gone.some(isFile),
      is_untracked: asset?.is_untracked === true,
      last_synced_at: asset?.last_synced_at ?? null,
      restores_unlisted: listing.restores_unlisted
    })
  }

  function add (
    file: ListedFile | null, asset: AssetRow | null, of: Pick<AssetRow, 'rom_id' | 'kind'>, place: SyncTarget | null
  ): void {
    const base = place?.[of.kind] ?? null
    pairs.push({
      rom_id: of.rom_id,
      kind: of.kind,
      file,
      asset,
      base,
      is_replaceable: asset !== null && (asset.slot === null || heads.get(`${asset.rom_id}/${asset.slot}`) === asset),
      decision: decideFor({ file, asset, base }, place, null)
    })
  }

  function addListed (): void {
    for (const file of listing.files) {
      const place = placeOf(file, file.key)
      if (place !== null) place.isListed = true
      const asset = place?.newest ?? null
      add(file, asset, asset ?? file, place)
    }
  }

  /**
   * Adds assets that the device did not list. For ROMs that the device did not name, only files with a base are added.
   */
  function addUnlisted (places: readonly SyncTarget[]): void {
    for (const place of places) {
      const { newest, isListed } = place
      if (isListed || newest === null || newest.conflict_of !== null) continue
      if (named !== null && !named.has(newest.rom_id) && place[newest.kind] === null) continue
      add(null, newest, newest, place)
    }
  }

  const places = addAssets()
  addBases()
  addListed()
  addUnlisted(places)

  /** Adds the former contents of each file or slot. */
  function addPast (former: readonly FormerRow[]): void {
    for (const row of former) {
      const place = placeOfAsset(row)
      if (place === null) continue
      pastOf(place).contents.push(row)
      if (row.is_deleted) pastOf(place).deleted.push(row)
    }
    // Conflict copies count as former content of their original.
    const kept = [...assets, ...former].filter((row) => row.conflict_of !== null)
    const copies = Map.groupBy(kept, (row) => row.conflict_of)
    for (const asset of copies.size === 0 ? [] : assets) {
      const place = placeOfAsset(asset)
      if (place !== null) pastOf(place).contents.push(...copies.get(asset.id) ?? [])
    }
  }

  return {
    /** Lists the pairs that need former contents, because the device might upload content that the server once had. */
    listOpen (): Pair[] {
      return pairs.filter(({ asset, decision: { action } }) => asset === null || action === 'conflict' || action === 'upload')
    },

    /** Decides the open pairs again with their former contents. */
    look (open: readonly Pair[], former: readonly FormerRow[], visible: ReadonlySet<number>): void {
      addPast(former)
      for (const pair of open) {
        const place = pair.file === null ? null : placeOf(pair.file, pair.file.key)
        pair.decision = pair.asset === null && !visible.has(pair.rom_id)
          ? unaskable('The server has no such ROM')
          : decideFor(pair, place, place === null ? null : past.get(place) ?? null)
      }
    },

    /**
     * Returns all pairs that the response contains, limited to the direction of the device and to storable file names.
     */
    conclude (direction: Direction): readonly Pair[] {
      for (const pair of pairs) {
        const decision = narrow(pair.decision, direction)
        const isSent = decision.action === 'upload' || decision.action === 'conflict'
        pair.decision = isSent && pair.file?.is_storable === false
          ? unaskable('The server does not accept this file name; rename the file on the device')
          : decision
      }
      return pairs.filter(({ file, decision }) => file !== null || decision.action !== 'noop')
    }
  }
}
