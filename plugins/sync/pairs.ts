import type { AssetKind } from '../assets/entities.ts'
import { type Decision, type Direction, type StoredContent, decide, isHashOf, narrow } from './decide.ts'
import type { ListedFile, Listing } from './listing.ts'
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

/** Everything the server has of one file or slot. */
interface Lineage { newest: AssetRow, older: AssetRow[], isListed: boolean }

/** What the server had of one file or slot. */
interface Past { contents: StoredContent[], deleted: FormerRow[] }

/** By what all that is of one file or slot is found; null for what is not paired. */
const placeOf = ({ rom_id: romId }: { rom_id: number }, key: string | null) => key === null ? null : `${romId}/${key}`
const placeOfFile = (file: ListedFile | null) => file === null ? null : placeOf(file, file.key)

const isNewer = (one: AssetRow, other: AssetRow) =>
  one.updated_at === other.updated_at ? one.id > other.id : one.updated_at > other.updated_at

function groupAssets (assets: readonly AssetRow[], { keyOf }: Listing): Map<string | null, Lineage> {
  const lineages = new Map<string | null, Lineage>()
  for (const asset of assets) {
    const place = placeOf(asset, keyOf(asset))
    if (place === null) continue
    const lineage = lineages.get(place)
    if (lineage === undefined) {
      lineages.set(place, { newest: asset, older: [], isListed: false })
    } else if (isNewer(asset, lineage.newest)) {
      lineage.older.push(lineage.newest)
      lineage.newest = asset
    } else {
      lineage.older.push(asset)
    }
  }
  return lineages
}

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

function toServerFile ({ sha1, content_hash: contentHash, updated_at: updatedAt, conflict_of: conflictOf }: AssetRow) {
  return { sha1, content_hash: contentHash, updated_at: updatedAt, is_conflict_copy: conflictOf !== null }
}

const unaskable = (reason: string): Decision => ({ action: 'noop', reason, agreed: null })

/** Pairs what a device lists with what the server has, and decides about each pair. */
export function createPairs (listing: Listing, stored: readonly AssetRow[], bases: readonly BaseRow[]) {
  // What is gone from the disk cannot be given; it is as if it were not there, but that it may come again.
  const assets = stored.filter((asset) => !asset.missing_from_fs)
  const lost = stored.filter((asset) => asset.missing_from_fs)
  const missing = Map.groupBy(lost, (asset) => placeOf(asset, listing.keyOf(asset)))
  missing.delete(null)
  const lineages = groupAssets(assets, listing)
  const basesOf = new Map([...Map.groupBy(bases, (base) => base.kind)]
    .map(([kind, ofKind]) => [kind, new Map(ofKind.map((base) => [placeOf(base, base.key), base]))]))
  const named = listing.rom_ids === null ? null : new Set(listing.rom_ids)
  const heads = listSlotHeads(assets)
  const pairs: Pair[] = []

  const findBase = (kind: AssetKind, place: string | null): BaseRow | null => basesOf.get(kind)?.get(place) ?? null

  function decideFor (
    { file, asset, base }: Pick<Pair, 'file' | 'asset' | 'base'>, place: string | null, past: Past | null
  ): Decision {
    const hash = file?.hash ?? null
    const isFile = (content: StoredContent) => hash !== null && isHashOf(hash, content)
    const deleted = past?.deleted ?? []
    const gone = missing.get(place) ?? []
    return decide({
      device: file,
      server: asset === null ? null : toServerFile(asset),
      base: asset === null && deleted[0] !== undefined ? findBase(deleted[0].kind, place) : base,
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
    file: ListedFile | null, asset: AssetRow | null, of: Pick<AssetRow, 'rom_id' | 'kind'>, place: string | null
  ): void {
    const base = findBase(of.kind, place)
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
      const place = placeOfFile(file)
      const lineage = lineages.get(place)
      if (lineage !== undefined) lineage.isListed = true
      const asset = lineage?.newest ?? null
      add(file, asset, asset ?? file, place)
    }
  }

  /** A ROM that the device did not name is none of its business, but for files it once had. */
  function addUnlisted (): void {
    for (const [place, { newest, isListed }] of lineages) {
      if (isListed || newest.conflict_of !== null) continue
      if (named !== null && !named.has(newest.rom_id) && findBase(newest.kind, place) === null) continue
      add(null, newest, newest, place)
    }
  }

  addListed()
  addUnlisted()

  /** What each file or slot was before, by its place. */
  function collectPast (former: readonly FormerRow[]): Map<string | null, Past> {
    const past = new Map<string | null, Past>()
    function pastOf (place: string | null): Past {
      const known = past.get(place) ?? { contents: [], deleted: [] }
      past.set(place, known)
      return known
    }
    for (const [place, { older }] of lineages) {
      if (older.length > 0) pastOf(place).contents.push(...older)
    }
    for (const row of former) {
      const place = placeOf(row, listing.keyOf(row))
      if (place === null) continue
      pastOf(place).contents.push(row)
      if (row.is_deleted) pastOf(place).deleted.push(row)
    }
    // What came out of a conflict is content of the file that it was a conflict about.
    const kept = [...assets, ...former].filter((row) => row.conflict_of !== null)
    const copies = Map.groupBy(kept, (row) => row.conflict_of)
    for (const asset of copies.size === 0 ? [] : assets) {
      const place = placeOf(asset, listing.keyOf(asset))
      if (place !== null) pastOf(place).contents.push(...copies.get(asset.id) ?? [])
    }
    return past
  }

  return {
    /** Those about which the server's past has to be known: what the device would send might be what the server had. */
    listOpen (): Pair[] {
      return pairs.filter(({ asset, decision: { action } }) => asset === null || action === 'conflict' || action === 'upload')
    },

    /** Decides about the open ones again, now that their past is known. */
    look (open: readonly Pair[], former: readonly FormerRow[], visible: ReadonlySet<number>): void {
      const past = collectPast(former)
      for (const pair of open) {
        const place = placeOfFile(pair.file)
        pair.decision = pair.asset === null && !visible.has(pair.rom_id)
          ? unaskable('The server has no such ROM')
          : decideFor(pair, place, past.get(place) ?? null)
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
