export const FOLDER = 'roms/snes'
