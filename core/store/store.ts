import type { FileHandle } from 'node:fs/promises'
import type { Readable } from 'node:stream'

/** The folders of all keys. Features use no other, so that copies and backups find every object. */
export const STORE_FOLDERS = ['assets', 'resources'] as const

export interface ObjectFacts {
  key: string
  size: number
  modifiedAt: Date
}

/** An object that can be read in parts. The parts belong to one content, even if the object is replaced meanwhile. */
export interface StoredObject extends ObjectFacts {
  /** A text that changes when the content does. */
  version: string
  /** The open file; null if the object is on another machine. */
  handle: FileHandle | null
  /** Returns the bytes from `start` up to and excluding `end`. */
  read (start: number, end: number): Readable
  close (): Promise<void>
}

/** A local file that all hosts can publish quickly, as in a transaction. */
export interface StagedObject {
  /** Gives the file its key, and replaces an object that has the key. */
  publish (key: string): Promise<void>
  /** Deletes the file unless it was published. Can be repeated. */
  discard (): Promise<void>
}

/** The names directly in a folder. */
export interface FolderNames { objects: string[], folders: string[] }

export type ObjectSource = Buffer | AsyncIterable<Uint8Array>

/** Files that every host reaches. A key is a relative path of plain names. */
export interface Store {
  /** The folder whose files are the objects; null if the objects are on another machine. */
  folder: string | null
  /** A name of the store for messages, without secrets. */
  name: string

  /**
   * Stores an object whole or not at all. Readers of a replaced object get the former content until then.
   *
   * @param size the number of bytes that the source must have
   */
  put (key: string, source: ObjectSource, size?: number): Promise<void>

  /** Prepares a complete local file for publication. The file must be on the disk of the folder, if there is one. */
  stage (path: string): Promise<StagedObject>

  /** Opens an object; the caller closes it. Returns null if there is none. */
  get (key: string): Promise<StoredObject | null>

  stat (key: string): Promise<ObjectFacts | null>

  /** Deletes objects; missing ones are no error. */
  delete (keys: readonly string[]): Promise<void>

  /** Yields all objects in a folder and in its folders, in no order. */
  list (folder: string): AsyncIterable<ObjectFacts>

  /** Lists the names directly in a folder, in no order. A missing folder has none. */
  listNames (folder: string): Promise<FolderNames>

  /**
   * Deletes objects that were staged before a time and never published, and unfinished uploads.
   *
   * @returns their number
   */
  sweep (before: Date): Promise<number>
}
