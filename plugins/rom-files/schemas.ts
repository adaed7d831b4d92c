import { type Static, Type } from '@sinclair/typebox'
import { Bytes, Nullable } from '../../core/typebox.ts'
import { TrackMetaSchema } from '../roms/schemas.ts'

export const SoundtrackTrackMetaSchema = Type.Object({
  file_id: Type.Integer(),
  file_name: Type.String(),
  file_size_bytes: Type.Integer(),
  track_meta: Nullable(TrackMetaSchema)
}, { title: 'SoundtrackTrackMeta' })
export type SoundtrackTrack = Static<typeof SoundtrackTrackMetaSchema>

/** A form with a part that has the name of the file. */
export const NamedFileForm = Type.Object({}, { title: 'NamedFile', additionalProperties: Bytes })

export const UploadHeaders = Type.Object({
  'x-upload-filename': Type.String({
    minLength: 1, maxLength: 2_000, description: 'The name of the file, and of the form\'s part that contains it; without a form, the body is the file'
  })
})
