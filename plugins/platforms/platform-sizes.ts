import type { Context } from '../../core/access/context.ts'
import { createLibraryCache } from '../library-versions/library-cache.ts'
import type { LongReads } from '../library/long-reads.ts'
import { selectVersions } from '../library-versions/version-rows.ts'
import type { PlatformSize } from './views.ts'
import { type AnyCaller, callerKey } from './visibility.ts'

const MAX_BYTES = 4 * 1024 ** 2
const BYTES_PER_SIZE = 100

type PlatformSizes = ReadonlyMap<number, PlatformSize>

/** Counts the ROMs that a caller sees, by platform id. Skips platforms without a ROM. */
type SelectSizes = (reads: LongReads, caller: AnyCaller) => Promise<PlatformSizes>

/** Caches the counts of the ROMs of each platform until the library changes. */
export function createPlatformSizes (reads: LongReads) {
  const sizes = createLibraryCache<PlatformSizes>({ maxBytes: MAX_BYTES, sizeOf: (key) => key.size * BYTES_PER_SIZE })
  let selectSizes: SelectSizes = async () => new Map()

  return {
    /** Registers the function that counts sizes, because this feature does not know ROMs. */
    measureBy (select: SelectSizes): void { selectSizes = select },

    /** Returns the counts of the ROMs that a caller sees. */
    async load ({ db, caller }: Context<AnyCaller>): Promise<PlatformSizes> {
      const versions = await selectVersions(db, null)
      return await sizes.get(versions, { caller: callerKey(caller), of: 'sizes' }, () => selectSizes(reads, caller))
    }
  }
}
