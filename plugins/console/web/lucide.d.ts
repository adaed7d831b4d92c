/** A single icon, so that the bundler reads no others. */
declare module 'lucide/dist/esm/icons/*.mjs' {
  import type { IconNode } from 'lucide'

  const icon: IconNode
  export default icon
}
