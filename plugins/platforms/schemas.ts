import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { FirmwareSchema } from '../firmware/schemas.ts'
import { KNOWN_PROVIDERS } from '../plugins/known-providers.ts'
import { DateTime, Nullable, NameText, StoredText } from '../../core/typebox.ts'

const keysWith = (part: 'id' | 'slug') =>
  KNOWN_PROVIDERS.filter(({ platform = [] }) => platform.includes(part)).map(({ key }) => key)

/** Providers whose platform ids are in every response, with or without their plugin. */
export const PLATFORM_ID_KEYS: readonly string[] = keysWith('id')
export const PLATFORM_SLUG_KEYS: readonly string[] = keysWith('slug')

const PlatformFields = Type.Object({
  id: Type.Integer({ description: '-1 for a platform that is not stored' }),
  slug: Type.String(),
  fs_slug: Type.String({ description: 'Name of the folder' }),
  rom_count: Type.Integer(),
  name: Type.String(),
  custom_name: Nullable(Type.String()),
  description: Nullable(Type.String()),
  category: Nullable(Type.String()),
  generation: Nullable(Type.Integer()),
  family_name: Nullable(Type.String()),
  family_slug: Nullable(Type.String()),
  url: Nullable(Type.String()),
  url_logo: Nullable(Type.String()),
  firmware: Type.Array(FirmwareSchema),
  created_at: DateTime,
  updated_at: DateTime,
  fs_size_bytes: Type.Integer({ description: 'Total size of its ROMs' }),
  is_unidentified: Type.Boolean(),
  is_identified: Type.Boolean(),
  missing_from_fs: Type.Boolean(),
  display_name: Type.String(),
  firmware_count: Type.Integer()
})
export type PlatformView = Static<typeof PlatformFields> & Readonly<Record<string, unknown>>

const ID = { integer: Type.Integer(), string: Type.String() }

/** Creates the schema of responses, with the id columns of the registered providers. */
export function createPlatformSchema (providers: readonly { key: string, id: 'integer' | 'string' }[]) {
  const columns: Record<string, TSchema> = {}
  for (const key of PLATFORM_SLUG_KEYS) columns[`${key}_slug`] = Nullable(Type.String())
  for (const key of PLATFORM_ID_KEYS) columns[`${key}_id`] = Nullable(Type.Integer())
  for (const { key } of providers) {
    columns[`${key}_id`] ??= Nullable(Type.Union([ID.integer, ID.string]))
  }
  return Type.Object({ ...PlatformFields.properties, ...columns }, { $id: 'Platform' })
}

export const CreatePlatformSchema = Type.Object({
  fs_slug: Type.String({ minLength: 1, description: 'Name of the folder' })
}, { title: 'CreatePlatform' })

const clears = 'null leaves it unchanged, an empty text clears it'
export const UpdatePlatformSchema = Type.Object({
  custom_name: Type.Optional(Nullable(NameText({ maxLength: 400, description: clears }))),
  description: Type.Optional(Nullable(StoredText({ maxLength: 65_535, description: clears })))
}, { title: 'UpdatePlatform' })
export type UpdatePlatform = Static<typeof UpdatePlatformSchema>

export const ListPlatformsQuery = Type.Object({
  updated_after: Type.Optional(Type.String({ format: 'date-time', description: 'Only platforms changed after this time' }))
})
