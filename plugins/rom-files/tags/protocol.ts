import type { FileHandle } from 'node:fs/promises'
import type { TrackMeta } from '../../roms/entities.ts'

/** What a thread is told to read; the handle is its own from then on. */
export interface TagsJob { handle: FileHandle, file_name: string, file_size_bytes: number }

export type Tags = Omit<TrackMeta, 'cover_path'>

/** A picture in a file, of a kind that is stored. */
export interface Picture { extension: 'jpg' | 'png', content: Uint8Array }

/** Null when they cannot be read. */
export type TagsAnswer = { tags: Tags, picture: Picture | null } | null
