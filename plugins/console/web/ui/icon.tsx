import type { IconNode } from 'lucide'
import { h } from 'preact'

interface IconProps { node: IconNode, label?: string }

/** An icon of lucide. Without a label it is decoration, which screen readers skip. */
export const Icon = ({ node, label }: IconProps) => (
  <svg class='icon' viewBox='0 0 24 24' role={label === undefined ? undefined : 'img'} aria-label={label} aria-hidden={label === undefined}>
    {node.map(([tag, attributes], index) => h(tag, { ...attributes, key: index }))}
  </svg>
)
