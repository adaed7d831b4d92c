import type { Readable } from 'node:stream'

/** A save file on a device or in its folder. */
export interface DeviceSave {
  /** The platform's folder name on the device. */
  platform: string
  file_name: string
  file_size_bytes: number
  /** Time of the last change, in milliseconds since 1970. */
  changed_at: number
  /** Path of the file; only the transport interprets it. */
  path: string
}

/** Metadata of server content that is written to a device. */
export interface SaveToWrite {
  /** Folder name and slug of the platform. */
  platforms: readonly string[]
  file_name: string
  /** The file to replace; null for a new file on the device. */
  replaces: DeviceSave | null
}

/** A way to access a device's files. */
export interface Transport {
  list (): Promise<DeviceSave[]>
  /** @throws Error if the file no longer exists */
  open (save: DeviceSave): Promise<Readable>
  /** True if the file did not change since it was listed. */
  isSame (save: DeviceSave): Promise<boolean>
  /**
   * @returns false if the device has no folder for the content.
   * @throws Error if the replaced file changed meanwhile
   */
  write (target: SaveToWrite, content: Readable): Promise<boolean>
  /** Called for a file whose content the server has or had. */
  onSynced? (save: DeviceSave): Promise<void>
  /** Called for a file that both sides changed, if no conflict resolution is set. */
  onConflict? (save: DeviceSave): Promise<void>
  /** True if missing saves are written to the device. */
  offersMissing: boolean
  /** True if the connection still works. */
  isOpen (): boolean
  close (): Promise<void>
}
