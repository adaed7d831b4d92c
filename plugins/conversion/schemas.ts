import { type Static, Type } from '@sinclair/typebox'
import { Id, StringEnum } from '../../core/typebox.ts'

/** The target of a conversion: an archive, a compressed disc image, or the unpacked original. */
export const TARGETS = ['zip', 'chd', 'plain'] as const
export type Target = typeof TARGETS[number]

export const ConversionArgumentsSchema = Type.Object({
  to: StringEnum(TARGETS, {
    description: '`zip`: single files and `.7z` archives become `.zip`. `chd`: disc images (`.cue` or `.gdi` with its tracks in ' +
      'a folder, `.iso`) become `.chd`. `plain`: `.zip`, `.7z` and `.chd` are unpacked.'
  }),
  platform_ids: Type.Optional(Type.Array(Id, { maxItems: 1_000, description: 'Only ROMs of these platforms' })),
  rom_ids: Type.Optional(Type.Array(Id, { maxItems: 10_000, description: 'Only these ROMs' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Reports the planned changes and changes nothing' }))
}, { additionalProperties: false })
export type ConversionArguments = Static<typeof ConversionArgumentsSchema>
