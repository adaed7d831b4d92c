import { type Static, Type } from '@sinclair/typebox'

/** The `svc` key of a plugin's package.json. */
export const ManifestSchema = Type.Object({
  kind: Type.Union([Type.Literal('provider'), Type.Literal('channel'), Type.Literal('exporter')]),
  key: Type.String({ pattern: '^[a-z][a-z0-9-]{0,31}$' }),
  sdk: Type.String({ minLength: 1, description: 'The range of SDK versions the plugin works with, such as `^1`' })
}, { additionalProperties: false })
export type Manifest = Static<typeof ManifestSchema>
