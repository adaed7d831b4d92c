import type { Readable } from 'node:stream'

/** A save that lies where a device keeps it, or put it. */
export interface FoundSave {
  /** The platform's folder, as the device names it. */
  platform: string
  file_name: string
  file_size_bytes: number
  /** When it was changed, in milliseconds since 1970. */
  changed_at: number
  /** Where it is, for the transport alone. */
  path: string
}

/** Content of the server on its way to a device. */
export interface Gift {
  /** The platform by its folder and by its name. */
  platforms: readonly string[]
  file_name: string
  /** The file whose place it takes; null for one that the device does not have. */
  replaces: FoundSave | null
}

/** A way to a device's files. */
export interface Transport {
  list (): Promise<FoundSave[]>
  /** @throws Error when it is not there any more */
  open (save: FoundSave): Promise<Readable>
  /** Whether it is still as it was when it was listed. */
  isSame (save: FoundSave): Promise<boolean>
  /** @returns false when the device has no place for it. @throws Error when what it replaces changed meanwhile */
  give (gift: Gift, content: Readable): Promise<boolean>
  /** Called for what the server has by now, or had. */
  settled? (save: FoundSave): Promise<void>
  /** Called for what both sides changed, and nobody said how that ends. */
  disputed? (save: FoundSave): Promise<void>
  /** Whether the device is given what it does not have. */
  offersMissing: boolean
  /** Whether files can still be asked for. */
  isOpen (): boolean
  close (): Promise<void>
}
