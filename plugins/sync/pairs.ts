import type { AssetKind } from '../assets/entities.ts'
import { type Decision, type Direction, type StoredContent, decide, isHashOf, narrow } from './decide.ts'
import type { ListedFile, Listing } from './read-listing.ts'
import type { AssetRow, BaseRow, FormerRow } from './rows.ts'

/** A file of the device, of the server, or of both, and what becomes of it. */
export interface Pair {
  rom_id: number
  kind: AssetKind
  file: ListedFile | null
  asset: AssetRow | null
  /** What the device and the server last agreed on. */
  base: BaseRow | null
  /** Whether an upload can take the asset's place: of all files in a slot only the newest has one. */
  is_replaceable: boolean
  decision: Decision
}

/** A file or slot of a ROM, with what the device and the server last agreed on about it, by kind. */
interface SyncTarget extends Record<AssetKind, BaseRow | null> {
  /** What the server has of it. */
  newest: AssetRow | null
  isListed: boolean
}

/** What the server had of one file or slot. */
interface Past { contents: StoredContent[], deleted: FormerRow[] }

/**
 * Finds places by their ROM and key, and makes those that it did not know; null for what is not paired. A text of both
 * would have to be put together for each of ten thousand look-ups.
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

/** The newest of each slot, whatever its name. */
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

/** Pairs what a device lists with what the server has, and decides about each pair. */
export function createPairs (listing: Listing, stored: readonly AssetRow[], bases: readonly BaseRow[]) {
  // What is gone from the disk cannot be given; it is as if it were not there, but that it may come again.
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

  /** @returns the places of which the server has something */
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

  /** A ROM that the device did not name is none of its business, but for files it once had. */
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

  /** Adds what each file or slot was before. */
  function addPast (former: readonly FormerRow[]): void {
    for (const row of former) {
      const place = placeOfAsset(row)
      if (place === null) continue
      pastOf(place).contents.push(row)
      if (row.is_deleted) pastOf(place).deleted.push(row)
    }
    // What came out of a conflict is content of the file that it was a conflict about.
    const kept = [...assets, ...former].filter((row) => row.conflict_of !== null)
    const copies = Map.groupBy(kept, (row) => row.conflict_of)
    for (const asset of copies.size === 0 ? [] : assets) {
      const place = placeOfAsset(asset)
      if (place !== null) pastOf(place).contents.push(...copies.get(asset.id) ?? [])
    }
  }

  return {
    /** Those about which the server's past has to be known: what the device would send might be what the server had. */
    listOpen (): Pair[] {
      return pairs.filter(({ asset, decision: { action } }) => asset === null || action === 'conflict' || action === 'upload')
    },

    /** Decides about the open ones again, now that their past is known. */
    look (open: readonly Pair[], former: readonly FormerRow[], visible: ReadonlySet<number>): void {
      addPast(former)
      for (const pair of open) {
        const place = pair.file === null ? null : placeOf(pair.file, pair.file.key)
        pair.decision = pair.asset === null && !visible.has(pair.rom_id)
          ? unaskable('The server has no such ROM')
          : decideFor(pair, place, place === null ? null : past.get(place) ?? null)
      }
    },

    /** All pairs the device is told of, without what it does not want or the server could not take. */
    conclude (direction: Direction): readonly Pair[] {
      for (const pair of pairs) {
        const decision = narrow(pair.decision, direction)
        const isSent = decision.action === 'upload' || decision.action === 'conflict'
        pair.decision = isSent && pair.file?.is_storable === false
          ? unaskable('The server does not take files of this name; rename it on the device')
          : decision
      }
      return pairs.filter(({ file, decision }) => file !== null || decision.action !== 'noop')
    }
  }
}
