import { Type } from '@sinclair/typebox'
import { Nullable, StoredText } from '../../core/typebox.ts'

export const ContentTypeParams = Type.Object({ content_type: Type.String({ description: 'The content type' }) })
export const PlatformParams = Type.Object({
  platform_slug: StoredText({ description: 'The slug of a platform of the library' })
})
export const FpkgiQuery = Type.Object({
  content_type: Type.Optional(Type.String({ description: 'Lists only this content type' }))
})
export const TinfoilQuery = Type.Object({ slug: StoredText({ default: 'switch', description: 'The slug of a platform' }) })

/** The schema of text lines, only for the API document, because they are streamed. */
export const TextResponse = {
  description: 'Lines of text', content: { 'text/plain': { schema: Type.String() } }
}

const WebrcadeItem = Type.Object({
  title: Type.String(),
  description: Type.String(),
  type: Type.String(),
  thumbnail: Type.Optional(Type.String()),
  background: Type.Optional(Type.String()),
  props: Type.Object({ rom: Type.String() }, { title: 'WebrcadeItemProps' })
}, { title: 'WebrcadeItem' })
export const WebrcadeSchema = Type.Object({
  title: Type.String(),
  longTitle: Type.String(),
  description: Type.String(),
  categories: Type.Array(Type.Object({
    title: Type.String(), longTitle: Type.String(), items: Type.Array(WebrcadeItem)
  }, { title: 'WebrcadeCategory' }))
}, { title: 'WebrcadeFeed' })

export const TinfoilSchema = Type.Object({
  files: Type.Array(Type.Object({ url: Type.String(), size: Type.Integer() }, { title: 'TinfoilFile' })),
  directories: Type.Array(Type.String()),
  success: Type.Optional(Type.String()),
  titledb: Type.Optional(Type.Record(Type.String(), Type.Object({
    id: Type.String(),
    name: Type.String(),
    description: Type.String(),
    region: Type.String(),
    publisher: Type.String(),
    releaseDate: Type.Integer({ description: 'YYYYMMDD' }),
    size: Type.Integer(),
    version: Type.Integer(),
    rating: Type.Integer({ minimum: 0, maximum: 100 }),
    rank: Type.Integer()
  }, { title: 'TinfoilTitle' }))),
  error: Type.Optional(Type.String())
}, { title: 'TinfoilFeed' })

export const FpkgiSchema = Type.Object({
  DATA: Type.Record(Type.String(), Type.Object({
    name: Type.String(),
    size: Type.Integer(),
    title_id: Type.String(),
    region: Nullable(Type.String()),
    version: Nullable(Type.String()),
    release: Nullable(Type.String({ description: 'MM-DD-YYYY' })),
    min_fw: Type.Null(),
    cover_url: Nullable(Type.String())
  }, { title: 'FpkgiPackage' }), { description: 'Packages by their address' })
}, { title: 'FpkgiFeed' })
