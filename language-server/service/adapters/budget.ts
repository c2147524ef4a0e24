/** Thrown where an analysis has taken longer than it may. */
export class OutOfBudget extends Error {
  constructor() {
    super('the analysis took too long');
    this.name = 'OutOfBudget';
  }
}
