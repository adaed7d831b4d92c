import type { DetailedRom } from './rom-data.ts'

/** Returns the address of the download of a whole ROM. */
export const downloadOf = ({ id, fs_name: name }: Pick<DetailedRom, 'id' | 'fs_name'>) =>
  `api/roms/${id}/content/${encodeURIComponent(name)}`
