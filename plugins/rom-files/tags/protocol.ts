import type { FileHandle } from 'node:fs/promises'
import type { TrackMeta } from '../../roms/entities.ts'

/** A file for the thread to read. The thread owns the handle from then on. */
export interface TagsJob { handle: FileHandle, file_name: string, file_size_bytes: number }

export type Tags = Omit<TrackMeta, 'cover_path'>

/** A picture in a file, of a format that is stored. */
export interface Picture { extension: 'jpg' | 'png', content: Uint8Array }

/** The tags of a file; null if they cannot be read. */
export type TagsAnswer = { tags: Tags, picture: Picture | null } | null
