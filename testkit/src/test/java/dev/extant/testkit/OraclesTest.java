package dev.extant.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class OraclesTest {
  @Test
  void runsAProgramAndTellsItsAnswer() throws Exception {
    Oracles.require("sh");
    Oracles.Result result =
        Oracles.run(List.of("sh", "-c", "echo out; echo $WORD >&2; exit 3"), Map.of("WORD", "err"));
    assertThat(result.exitCode()).isEqualTo(3);
    assertThat(result.output()).isEqualTo("out\nerr\n");
    assertThat(result.expect(2, 3)).isSameAs(result);
    assertThatThrownBy(() -> result.expect(0))
        .isInstanceOf(AssertionError.class)
        .hasMessageContaining("exited with 3")
        .hasMessageContaining("err");
  }

  @Test
  void aProgramThatIsNotThereIsNotFound() {
    assertThat(Oracles.find("no-such-program-anywhere")).isEmpty();
  }
}
