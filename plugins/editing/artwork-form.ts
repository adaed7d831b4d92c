import { randomUUID } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Config } from '../../core/config/config.ts'
import { ApiError, badRequest } from '../../core/errors.ts'
import { toFormError } from '../../core/web/form-error.ts'
import { readPicture } from '../assets/check-picture.ts'
import { ARTWORK_MAX_BYTES, EDIT_PREFIX, createStaging } from '../artwork/staging.ts'
import { resourcesDirOf } from '../resources/resource-key.ts'

const FIELD_MAX_BYTES = 256 * 1024
const LIMITS = { files: 1, fields: 200, fieldSize: FIELD_MAX_BYTES, parts: 201, fileSize: ARTWORK_MAX_BYTES }
/** Leaves room for the longest texts of a ROM. */
const FORM_MAX_BYTES = ARTWORK_MAX_BYTES + 16 * FIELD_MAX_BYTES
const HEAD_BYTES = 64
const PART = 'artwork'
const KINDS = ['png', 'jpg', 'webp', 'gif']

const tooLarge = () => new ApiError('TOO_LARGE', 'The artwork is larger than 64 MiB; send a smaller picture')

/** A picture on disk until the request ends. */
export interface StagedArtwork { path: string, discard (): Promise<void> }

declare module 'fastify' {
  interface FastifyRequest { artwork: StagedArtwork | null }
}

type PartStream = Readable & { truncated?: boolean }

/**
 * Writes content to a file.
 *
 * @returns the number of bytes, and the first of them
 */
async function writeTo (path: string, content: Readable) {
  const file = await open(path, 'wx', 0o640)
  let size = 0
  let head = Buffer.alloc(0)
  try {
    for await (const chunk of content as AsyncIterable<Buffer>) {
      if (head.length < HEAD_BYTES) head = Buffer.concat([head, chunk.subarray(0, HEAD_BYTES - head.length)])
      size += chunk.length
      await file.writeFile(chunk)
    }
  } finally {
    await file.close()
  }
  return { size, head }
}

/** Converts a multipart form to the shape of an urlencoded one. Its picture is on disk before a handler runs. */
export function createArtworkForms (app: FastifyInstance, config: Config) {
  const resourcesDir = resourcesDirOf(config)

  async function stage (request: FastifyRequest, name: string, content: PartStream): Promise<void> {
    const staging = createStaging(app.db, resourcesDir, `${EDIT_PREFIX}${randomUUID()}`)
    const path = await staging.next()
    request.artwork = { path, discard: staging.remove }
    const { size, head } = await writeTo(path, content)
    if (content.truncated === true) throw tooLarge()
    if (size === 0 && name === '') {
      // An empty part without a file name comes from a form without a chosen file.
      await staging.remove()
      request.artwork = null
    } else if (!KINDS.includes(await readPicture({ path, head, name }))) {
      throw badRequest(`The artwork '${name}' is not a PNG, JPEG, WebP or GIF picture; send one of these`)
    }
  }

  return {
    async read (request: FastifyRequest): Promise<void> {
      if (!request.isMultipart()) {
        request.body ??= {}
        return
      }
      if (Number(request.headers['content-length'] ?? 0) > FORM_MAX_BYTES) throw tooLarge()
      const entries: [string, unknown][] = []
      try {
        for await (const part of request.parts({ limits: LIMITS })) {
          if (part.type === 'field') entries.push([part.fieldname, part.value])
          else if (part.fieldname === PART && request.artwork === null) await stage(request, part.filename, part.file)
          else throw badRequest(`The file '${part.fieldname}' is not expected; send one picture as '${PART}'`)
        }
      } catch (err) {
        throw toFormError(err)
      }
      request.body = Object.fromEntries(entries)
    },

    discard: async (request: FastifyRequest): Promise<void> => { await request.artwork?.discard() }
  }
}
export type ArtworkForms = ReturnType<typeof createArtworkForms>
