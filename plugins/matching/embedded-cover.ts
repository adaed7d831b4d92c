import type { Rom } from '../roms/entities.ts'

/** A PICO-8 cartridge is a picture of itself. See https://www.lexaloffle.com/dl/docs/pico-8_manual.html#P8PNG */
const CARTRIDGE = /\.p8\.png$/i

/** True if a file can be its own cover. */
export const isPictureFile = (fsName: string) => CARTRIDGE.test(fsName)

/** Returns the address of a ROM's file if the file is a picture of the game; null for other files. */
export function embeddedCoverOf (rom: Pick<Rom, 'fs_name' | 'fs_path' | 'is_folder'>): string | null {
  return !rom.is_folder && isPictureFile(rom.fs_name) ? `file://${rom.fs_path}/${rom.fs_name}` : null
}
