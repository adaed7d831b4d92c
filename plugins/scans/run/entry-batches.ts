import type { Entry } from '../../entries/entries.ts'

/**
 * The entries and bytes of the first batch. It is small, because its ROMs are then listed and looked up early. Each
 * further batch is twice as large, up to the largest.
 */
const FIRST_BATCH = { entries: 128, bytes: 16 * 1024 ** 2 }
const LARGEST_BATCH = 500
/** The fewest entries of a batch of large files, because several threads hash them. */
const FEWEST_LARGE = 16

const bytesOf = ({ files }: Entry) => files.reduce((sum, file) => sum + file.file_size_bytes, 0)

/** Collects entries into batches. A batch of large files ends early, because their hashes take long. */
export async function * inBatches (entries: AsyncIterable<Entry>): AsyncGenerator<Entry[]> {
  let batch: Entry[] = []
  let bytes = 0
  let limits = FIRST_BATCH
  for await (const entry of entries) {
    batch.push(entry)
    bytes += bytesOf(entry)
    const isLarge = bytes >= limits.bytes && batch.length >= FEWEST_LARGE
    if (batch.length < limits.entries && !isLarge) continue
    yield batch
    batch = []
    bytes = 0
    limits = { entries: Math.min(limits.entries * 2, LARGEST_BATCH), bytes: limits.bytes * 2 }
  }
  if (batch.length > 0) yield batch
}
