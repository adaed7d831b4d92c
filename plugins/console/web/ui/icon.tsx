import type { IconNode } from 'lucide'
import arrowLeft from 'lucide/dist/esm/icons/arrow-left.mjs'
import arrowRight from 'lucide/dist/esm/icons/arrow-right.mjs'
import chevronLeft from 'lucide/dist/esm/icons/chevron-left.mjs'
import chevronRight from 'lucide/dist/esm/icons/chevron-right.mjs'
import { h } from 'preact'

/** Icons that point along a line of text, so a page from right to left mirrors them. */
const DIRECTED: ReadonlySet<IconNode> = new Set([arrowLeft, arrowRight, chevronLeft, chevronRight])

interface IconProps { node: IconNode, label?: string }

/** An icon of lucide. Without a label it is decoration, which screen readers skip. */
export const Icon = ({ node, label }: IconProps) => (
  <svg
    class={DIRECTED.has(node) ? 'icon icon-directed' : 'icon'} viewBox='0 0 24 24'
    role={label === undefined ? undefined : 'img'} aria-label={label} aria-hidden={label === undefined}
  >
    {node.map(([tag, attributes], index) => h(tag, { ...attributes, key: index }))}
  </svg>
)
