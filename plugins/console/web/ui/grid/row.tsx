import { Component, type ComponentChildren } from 'preact'
import type { GridSelection } from './key-selection.ts'

interface RowProps {
  /** Begins the ids of the cells. */
  id: string
  row: number
  /** Pixels from the row at which the rows of the document begin. */
  top: number
  gap: number
  columns: number
  count: number
  active: number
  selection: GridSelection | undefined
  /** Draws one cell. */
  children: (index: number) => ComponentChildren
}

/** A row of cells, which is drawn again when its properties or a signal in its cells change, not while it scrolls. */
export class Row extends Component<RowProps> {
  override shouldComponentUpdate (next: RowProps, state: object): boolean {
    const names = Object.keys(next) as (keyof RowProps)[]
    // A signal that changes gives the component another state.
    return state !== this.state || names.some((name) => next[name] !== this.props[name])
  }

  render ({ id, row, top, gap, columns, count, active, selection, children }: RowProps) {
    const start = row * columns
    const indexes = Array.from({ length: Math.min(columns, count - start) }, (_, column) => start + column)
    return (
      <div
        class='grid-row' role='row' aria-rowindex={row + 1}
        style={{ insetBlockStart: `${top}px`, gap: `${gap}px`, gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
      >
        {indexes.map((index, column) => (
          <div
            key={index} id={`${id}-${index}`} class='grid-cell' role='gridcell' aria-colindex={column + 1}
            aria-selected={selection?.has(index)} data-index={index} data-active={index === active ? '' : undefined}
          >
            {children(index)}
          </div>
        ))}
      </div>
    )
  }
}
