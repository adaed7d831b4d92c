import type { AssetKind } from '../assets/entities.ts'
import type { Decision } from './decide.ts'
import type { ListedFile } from './read-listing.ts'
import type { AssetRow, BaseRow } from './rows.ts'

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
