import { type Static, Type } from '@sinclair/typebox'

/** The `svc` key of a plugin's package.json. */
export const ManifestSchema = Type.Object({
  kind: Type.Union([Type.Literal('provider'), Type.Literal('channel'), Type.Literal('exporter')]),
  key: Type.String({
    pattern: '^[a-z][a-z0-9-]{0,31}$', description: "at most 32 lower-case letters, digits and '-', a letter first"
  }),
  sdk: Type.String({ minLength: 1, description: 'The range of SDK versions the plugin works with, such as `^2`' }),
  hosts: Type.Optional(Type.Array(Type.String({
    pattern: '^(\\*\\.)?[a-z0-9]([a-z0-9.-]*[a-z0-9])?$', description: 'a name such as games.example or *.games.example'
  }), {
    description: 'The hosts that a provider may reach, `*.` for all subdomains; hosts in its configuration are always allowed'
  }))
}, { additionalProperties: false })
/** The content of {@link ManifestSchema}. */
export type Manifest = Static<typeof ManifestSchema>
