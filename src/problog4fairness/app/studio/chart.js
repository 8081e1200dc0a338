// The framework's chart, which stands a moment after it was put there: it may be taken away before that.
import echart from "p4f-echart/echart.js";

export default {
  ...echart,
  beforeUnmount() {
    this.chart?.dispose();
  },
};
