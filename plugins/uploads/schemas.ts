import { type Static, Type } from '@sinclair/typebox'
import { DateTime, ID_MAX } from '../../core/typebox.ts'

/** The most chunks of an upload: 64 GiB in the smallest chunks that apps send. */
const CHUNKS_MAX = 100_000
/** The largest size that JavaScript counts exactly; a disk may hold more. */
const SIZE_MAX = Number.MAX_SAFE_INTEGER
const NAME_HEADER_MAX = 2_000

const FileName = Type.String({
  maxLength: NAME_HEADER_MAX, description: 'The name of the file in the library, in UTF-8'
})
const PlatformId = Type.Integer({ minimum: 1, maximum: ID_MAX, description: 'Id of the platform of the ROM' })

/** The headers with the target of an upload. */
const aim = {
  'x-upload-platform': PlatformId,
  'x-upload-library': Type.Optional(Type.Integer({
    minimum: 1,
    maximum: ID_MAX,
    description: 'Id of the library of the ROM; by default the first with the platform, else the first writable one'
  }))
}
export const SingleUploadHeaders = Type.Object({ ...aim, 'x-upload-filename': FileName })
export type UploadTarget = Omit<Static<typeof SingleUploadHeaders>, 'x-upload-filename'>
export const StartHeaders = Type.Object({
  ...aim,
  'x-upload-filename': FileName,
  'x-upload-total-size': Type.Integer({ minimum: 1, maximum: SIZE_MAX, description: 'Size in bytes of the whole file' }),
  'x-upload-total-chunks': Type.Integer({ minimum: 1, maximum: CHUNKS_MAX, description: 'The number of chunks' })
})
export type Start = Static<typeof StartHeaders>
export const ChunkHeaders = Type.Object({
  'x-chunk-index': Type.Integer({ minimum: 0, maximum: ID_MAX, description: 'The index of the chunk, from 0' }),
  'content-digest': Type.Optional(Type.String({
    maxLength: 1_000, description: 'The digest of the bytes by RFC 9530: `sha-256=:…:` or `sha-512=:…:`'
  }))
})

export const UploadParams = Type.Object({ upload_id: Type.String({ description: 'Id of an upload' }) })
export const StartedSchema = Type.Object({ upload_id: Type.String({ format: 'uuid' }) }, { title: 'RomUploadStarted' })
export const ReceivedSchema = Type.Object({
  received: Type.Integer({ description: 'The number of received chunks' }), total: Type.Integer()
}, { title: 'RomUploadProgress' })
export const UploadSchema = Type.Object({
  upload_id: Type.String({ format: 'uuid' }),
  platform_id: Type.Integer(),
  library_id: Type.Integer({ description: 'Id of the library of the ROM' }),
  file_name: Type.String(),
  total_size: Type.Integer(),
  total_chunks: Type.Integer(),
  received_chunks: Type.Array(Type.Integer(), { description: 'The completely received chunks, which need not be sent again' }),
  expires_at: DateTime
}, { title: 'RomUpload' })
export type UploadView = Static<typeof UploadSchema>
