import { createWriteStream } from 'node:fs'
import { rm } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Db } from '../../../core/database/db.ts'
import { ArtworkError } from '../../artwork/failures.ts'
import { ARTWORK_MAX_BYTES, type Staging } from '../../artwork/staging.ts'
import type { FileRef, RecordKind } from '../contract.ts'
import { insertImported } from '../rows.ts'

/** One file that a person added in the source, and the function that stores it for a row of this server. */
export interface Picture {
  /** The kind under which the import remembers the file. */
  as: string
  kind: RecordKind
  oldId: string
  newId: number
  file: FileRef
  store (db: Db, picture: Picture, content: Readable): Promise<string | null>
}

/** Writes content to a temporary file, which is deleted unless `publish` moves it. */
export async function withPart<T> (
  staging: Staging, content: Readable, publish: (part: string) => Promise<T>
): Promise<T> {
  const part = await staging.next()
  try {
    await pipeline(limitContent(content, ARTWORK_MAX_BYTES), createWriteStream(part, { flags: 'wx' }))
    return await publish(part)
  } finally {
    await rm(part, { force: true })
  }
}

export const HAS_ONE = 'a person chose another one here, which stays'

/** Passes content on up to a limit. @throws ArtworkError beyond it */
export async function * limitContent (content: Readable, bytes: number): AsyncGenerator<Buffer> {
  let size = 0
  for await (const chunk of content as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > bytes) throw new ArtworkError(`it has more than ${bytes} bytes`)
    yield chunk
  }
}

/** Stores that a file is imported. */
export const rememberPicture = async (db: Db, source: string, { as, oldId, newId }: Picture): Promise<void> => {
  await insertImported(db, source, [{ kind: as, old_id: oldId, new_id: newId }])
}
