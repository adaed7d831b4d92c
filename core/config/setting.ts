import { type StringOptions, type TSchema, Type } from '@sinclair/typebox'
import type { FormatName } from './formats.ts'

/** The longest time limit in seconds. Node fires a timer of more than 2,147,483,647 ms at once. */
export const TIMER_MAX_SECONDS = 2_147_483

/** A boolean that is off unless set. */
export const Switch = (env: string, description: string) => Type.Boolean({ default: false, env, description })
/** A text in one of the formats; messages use the words of the format. */
export const Formatted = (format: FormatName, options: StringOptions = {}) => Type.String({ ...options, format })
/** A list of names, empty by default. */
export const Names = (description: string, defaults: string[] = [], options: { env?: string } = {}) =>
  Type.Array(Type.String({ minLength: 1 }), { default: defaults, description, ...options })
/** A section of the configuration, present even if nothing in it is set. */
export const Section = <P extends Record<string, TSchema>>(properties: P, description?: string) =>
  Type.Object(properties, { default: {}, description })

/** A path that must exist at the start, as a file or a folder, or a folder that is created when needed. */
export type PathKind = 'file' | 'folder' | 'new-folder'
/** A text with a path on the server; the start fails if the path does not suit. */
export const Path = (kind: PathKind, options: StringOptions = {}) => Type.String({ ...options, onDisk: kind })
